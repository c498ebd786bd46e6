// The plugin `calico`: reads what the node's files say, takes what the work needs, and has node/endpoints do it.
import { readFileSync, statSync } from "node:fs";
import { isRecord, type JsonRecord, messageOf } from "../../../base/lib/index.ts";
import { errnoOf } from "../../../base/linux/files.ts";
import {
  check,
  checkDataplane,
  checkDeviceType,
  collect,
  createNetwork,
  type EndpointEdge,
  type EndpointRequest,
  hostSideName,
  interfacePrefix,
  mustBeReady,
  plugIn,
  readEndpointSettings,
  readMtu,
  resultOf,
  unplug,
  versionWhenUnsaid,
  waitForPolicy,
} from "../../endpoints/index.ts";
import { type NetworkConfiguration, readNetworkConfiguration } from "../configuration.ts";
import { nodeNameOf } from "../node-name.ts";
import type { PluginOptions } from "../options.ts";
import { podLockPath, withPodLock } from "../pod-lock.ts";
import { readArguments } from "../protocol/arguments.ts";
import { validContainers } from "../protocol/attachments.ts";
import type { PluginCall } from "../protocol/call.ts";
import { CniError, cniErrorCodes } from "../protocol/cni-error.ts";
import type { Plugin } from "../protocol/run-plugin.ts";
import { collectByIpam, createIpamCalls, type IpamCallsOptions, statusOfIpam } from "./ipam-calls.ts";
import { openLogFile, type WriteLog } from "./log-file.ts";
import { waitForGates } from "./readiness-gates.ts";

const mtuFile = "/var/lib/calico/mtu";
const ownNamespace = "/proc/self/ns/net";

export function createCalicoPlugin(options: PluginOptions): Plugin {
  const { signal } = options;
  return {
    about: `Calico CNI plugin ${options.version}`,
    add: (call, version) =>
      worked(options, call, async ({ request, edge, log, alone }) => {
        checkDeviceType(request.settings);
        checkDataplane(call.configuration);
        const plugged = await alone(() => plugIn(request, edge));
        log("info", `added ${request.hostSide} for container ${request.containerId}`);
        await waitForPolicy({ ...request, ifname: plugged.endpoint }, edge);
        return resultOf(saysVersion(call.configuration) ? version : versionWhenUnsaid, plugged);
      }),
    check: (call) => worked(options, call, ({ request, edge }) => check(request, edge)),
    del: (call) =>
      worked(options, call, async ({ request, edge, log, alone }) => {
        await alone(() => unplug(request, edge));
        log("info", `deleted the interface of container ${request.containerId}`);
      }),
    status: (call) =>
      worked(options, call, async ({ request, edge, ipam }) => {
        await edge.mustBeReady();
        await waitForGates(request.settings.readinessGates, { clock: options.clock, signal, limitMs: 0 });
        await statusOfIpam(ipam);
      }),
    collect: (call) =>
      worked(options, call, async ({ request, edge, ipam, log }) => {
        const valid = validContainers(call.configuration);
        await edge.mustBeReady();
        const removed = await collect({ request, valid, holders: await collectByIpam(ipam) }, edge);
        log("info", `gave back what was left of ${removed} containers`);
      }),
  };
}

/** For installers (-t): whether the datastore answers, and may be used. Throws CniError. */
export async function testConnection(options: PluginOptions, stdin: string): Promise<void> {
  try {
    const value = partOfList(JSON.parse(stdin) as JsonRecord); // read field by field, each with its type
    const configuration = readNetworkConfiguration(value, options.variables);
    await using backed = await options.backing.open(configuration);
    await mustBeReady(backed.resources, AbortSignal.timeout(testLimitMs));
  } catch (error) {
    throw new CniError(cniErrorCodes.connection, "data store connection failed", {
      details: messageOf(error),
      cause: error,
    });
  }
}

const testLimitMs = 2_000;

/** A whole conflist is taken as well: what a runtime would give us of it. */
function partOfList(value: JsonRecord): JsonRecord {
  const { plugins, ...rest } = value;
  const own = Array.isArray(plugins) ? plugins.find((each) => isRecord(each) && each.type === "calico") : undefined;
  return isRecord(own) ? { ...rest, ...own } : value;
}

type Work = {
  readonly request: EndpointRequest;
  readonly edge: EndpointEdge;
  readonly ipam: IpamCallsOptions;
  readonly log: WriteLog;
  /** While nobody else changes the pod's interface, in this process or in another. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
};

async function worked<T>(options: PluginOptions, call: PluginCall, work: (given: Work) => Promise<T>): Promise<T> {
  const settings = readEndpointSettings(call.configuration);
  const log = openLogFile(settings, () => options.clock.wallMs());
  try {
    return await withEdge(options, { call, log, settings }, work);
  } catch (error) {
    log("error", messageOf(error));
    throw error;
  }
}

type Given = {
  readonly call: PluginCall;
  readonly log: WriteLog;
  readonly settings: EndpointRequest["settings"];
};

async function withEdge<T>(options: PluginOptions, given: Given, work: (given: Work) => Promise<T>): Promise<T> {
  const { call, log, settings } = given;
  const configuration = readNetworkConfiguration(call.configuration, options.variables);
  const request = await requestOf(options, given, configuration);
  await using backed = await options.backing.open(configuration);
  const warn = (text: string) => {
    options.warn(text);
    log("warning", text);
  };
  const ipam = { call, plugin: { ...options, warn }, backed };
  const edge: EndpointEdge = {
    clock: options.clock,
    warn,
    datastore: backed.datastore,
    resources: backed.resources,
    cluster: () => backed.cluster(),
    async mustBeReady() {
      await backed.mustBeReady();
      if (call.command === "ADD")
        await waitForGates(settings.readinessGates, { clock: options.clock, signal: options.signal });
    },
    ipam: createIpamCalls(ipam),
    network: options.network ?? createNetwork(),
    signal: options.signal,
  };
  log("info", `${call.command} of container ${call.containerId} on node ${request.node}, network ${settings.network}`);
  const lock = podLockPath(configuration.lockFile, request.hostSide);
  const alone = <R>(change: () => Promise<R>) => withPodLock(lock, edge, change);
  return await work({ request, edge, ipam, log, alone });
}

async function requestOf(
  { variables }: PluginOptions,
  { call, settings }: Given,
  configuration: NetworkConfiguration,
): Promise<EndpointRequest> {
  const { containerId, netns, ifname, command } = call;
  if (!settings.nodenameFileOptional) mustExist(configuration.nodenameFile);
  const mtu = command === "ADD" ? readMtu(contentOf(mtuFile), settings, mtuFile) : settings.mtu;
  mustNotBeOurs(netns);
  const { pod, uid } = readArguments(call.args === "" ? "" : `IgnoreUnknown=1;${call.args}`);
  const prefix = interfacePrefix(variables.FELIX_INTERFACEPREFIX);
  const hostSide = hostSideName(prefix, { pod, containerId });
  const node = await nodeNameOf(configuration);
  const names = { containerId, netns, ifname, pod, uid, node, prefix, hostSide };
  return { ...names, mtu, settings, configuration: call.configuration };
}

function mustExist(nodenameFile: string): void {
  if (contentOf(nodenameFile) !== undefined) return;
  const advice = "check that the calico/node container is running and has mounted /var/lib/calico/";
  throw new CniError(cniErrorCodes.other, `stat ${nodenameFile}: no such file or directory: ${advice}`, {
    details:
      "cattail node writes this file when it starts; nodename_file_optional in the configuration does without it",
  });
}

/** Undefined: there is no such file. */
function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** The node's own interface would be taken for the pod's. */
function mustNotBeOurs(netns: string): void {
  const [theirs, ours] = [inodeOf(netns), inodeOf(ownNamespace)];
  if (theirs === undefined || theirs !== ours) return;
  throw new CniError(cniErrorCodes.ownNamespace, "plugin's netns and netns from CNI_NETNS should not be the same");
}

function inodeOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined; // said by whoever opens it
  }
}

function saysVersion({ cniVersion }: JsonRecord): boolean {
  return typeof cniVersion === "string" && cniVersion !== "";
}
