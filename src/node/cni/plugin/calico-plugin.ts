// The plugin `calico`: reads what the node's files say, takes what the work needs, and has node/endpoints do it.
import { existsSync, readFileSync, statSync } from "node:fs";
import { type JsonRecord, messageOf } from "../../../base/lib/index.ts";
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
import { CniError, cniErrorCodes, toCniError } from "../protocol/cni-error.ts";
import { checkTypes } from "../protocol/netconf-types.ts";
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
        checkDataplane(call.configuration);
        const plugged = await alone(() => plugIn(request, edge));
        log("info", `added ${request.hostSide} for container ${request.containerId}`);
        await waitForPolicy({ ...request, ifname: plugged.endpoint }, edge);
        return resultOf(saysVersion(call.configuration) ? version : versionWhenUnsaid, plugged);
      }),
    saysChecked: "OK\n",
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

type Work = {
  readonly request: EndpointRequest;
  readonly edge: EndpointEdge;
  readonly ipam: IpamCallsOptions;
  readonly log: WriteLog;
  /** While nobody else changes the pod's interface, in this process or in another. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
};

async function worked<T>(options: PluginOptions, call: PluginCall, work: (given: Work) => Promise<T>): Promise<T> {
  checkTypes(call.configuration);
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
  await using backed = await opened(options, call, configuration);
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

/** DEL tells what is wrong as it is, ADD who found it: both as the original. */
async function opened({ backing }: PluginOptions, { command }: PluginCall, configuration: NetworkConfiguration) {
  try {
    return await backing.open(configuration);
  } catch (error) {
    if (command === "DEL") throw error;
    const { code, message, details } = toCniError(error);
    const more = details === undefined ? {} : { details };
    throw new CniError(code, `error creating calico client: ${message}`, { cause: error, ...more });
  }
}

async function requestOf(
  { variables, warn }: PluginOptions,
  { call, log, settings }: Given,
  configuration: NetworkConfiguration,
): Promise<EndpointRequest> {
  const { containerId, netns, ifname, command } = call;
  if (!settings.nodenameFileOptional) mustExist(configuration.nodenameFile, [warn, (text) => log("warning", text)]);
  const mtu = command === "ADD" ? readMtu(mtuFileFor(settings, log), settings, mtuFile) : settings.mtu;
  if (command === "ADD") checkDeviceType(settings);
  mustNotBeOurs(netns);
  const { pod, uid } = readArguments(call.args === "" ? "" : `IgnoreUnknown=1;${call.args}`);
  const prefix = interfacePrefix(variables.FELIX_INTERFACEPREFIX);
  const hostSide = hostSideName(prefix, { pod, containerId });
  const node = await nodeNameOf(configuration, (text) => {
    warn(text);
    log("warning", text);
  });
  const names = { containerId, netns, ifname, pod, uid, node, prefix, hostSide };
  return { ...names, mtu, settings, configuration: call.configuration };
}

/** The original's sentence says what to do, for the original; who writes the file here is said beside it. */
function mustExist(nodenameFile: string, says: readonly ((text: string) => void)[]): void {
  if (existsSync(nodenameFile)) return;
  for (const say of says)
    say(
      `cattail node writes ${nodenameFile} when it starts; nodename_file_optional in the configuration does without it`,
    );
  const advice = "check that the calico/node container is running and has mounted /var/lib/calico/";
  throw new CniError(cniErrorCodes.other, `stat ${nodenameFile}: no such file or directory: ${advice}`);
}

/** Undefined: there is none. Said also where only errors are: pods behind a tunnel then have packets that are too large for it. */
function mtuFileFor({ mtu }: EndpointRequest["settings"], log: WriteLog): string | undefined {
  const content = contentOf(mtuFile);
  const instead = mtu === 0 ? "the kernel's" : `${mtu}, of the configuration`;
  if (content === undefined) log("error", `${mtuFile} is not there, which cattail node writes: the MTU is ${instead}`);
  return content;
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
