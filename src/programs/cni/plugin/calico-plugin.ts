// The plugin `calico`: reads what the node's files say, opens what the work needs, and has node/endpoints do it.
import { readFileSync, realpathSync, statSync } from "node:fs";
import { type JsonRecord, messageOf, silentLog } from "../../../base/lib/index.ts";
import { errnoOf } from "../../../base/linux/files.ts";
import { type Datastore, openDatastore } from "../../../calico/datastore/index.ts";
import { openResources } from "../../../calico/resources/index.ts";
import {
  check,
  checkDeviceType,
  type EndpointEdge,
  type EndpointRequest,
  hostSideName,
  interfacePrefix,
  missingOf,
  mustBeReady,
  plugIn,
  plugLink,
  readEndpointSettings,
  readMtu,
  resultOf,
  unplug,
  unplugInPod,
  unplugOnNode,
  versionWhenUnsaid,
  waitForPolicy,
} from "../../../node/endpoints/index.ts";
import { type NetworkConfiguration, readNetworkConfiguration } from "../configuration.ts";
import type { IpamPluginOptions } from "../ipam/ipam-plugin.ts";
import { nodeNameOf } from "../node-name.ts";
import { readArguments } from "../protocol/arguments.ts";
import type { PluginCall } from "../protocol/call.ts";
import { CniError, cniErrorCodes } from "../protocol/cni-error.ts";
import type { Plugin } from "../protocol/run-plugin.ts";
import { createIpamCalls } from "./ipam-calls.ts";
import { openLogFile, type WriteLog } from "./log-file.ts";

export type CalicoPluginOptions = IpamPluginOptions & {
  /** Files that are this program: IPAM under one of them is called in this process. */
  readonly ownFiles: readonly string[];
};

const mtuFile = "/var/lib/calico/mtu";
const ownNamespace = "/proc/self/ns/net";
const network = { plug: plugLink, unplugInPod, unplugOnNode, missing: missingOf };

export function createCalicoPlugin(options: CalicoPluginOptions): Plugin {
  return {
    about: `Calico CNI plugin ${options.version}`,
    add: (call, version) =>
      worked(options, call, async ({ request, edge, log }) => {
        checkDeviceType(request.settings);
        const plugged = await plugIn(request, edge);
        log("info", `added ${request.hostSide} for container ${request.containerId}`);
        await waitForPolicy(request, edge);
        return resultOf(saysVersion(call.configuration) ? version : versionWhenUnsaid, plugged);
      }),
    check: (call) => worked(options, call, ({ request, edge }) => check(request, edge)),
    del: (call) =>
      worked(options, call, async ({ request, edge, log }) => {
        await unplug(request, edge);
        log("info", `deleted the interface of container ${request.containerId}`);
      }),
  };
}

/** For installers (-t): whether the datastore answers, and may be used. Throws CniError. */
export async function testConnection(options: CalicoPluginOptions, stdin: string): Promise<void> {
  try {
    const value = JSON.parse(stdin) as JsonRecord & { readonly name: string }; // read field by field, each with its type
    const configuration = readNetworkConfiguration(value, options.variables);
    await using datastore = await openClient(configuration, options);
    await mustBeReady(openResources(datastore, { clock: options.clock }), AbortSignal.timeout(testLimitMs));
  } catch (error) {
    throw new CniError(cniErrorCodes.connection, "data store connection failed", {
      details: messageOf(error),
      cause: error,
    });
  }
}

const testLimitMs = 2_000;

type Work = { readonly request: EndpointRequest; readonly edge: EndpointEdge; readonly log: WriteLog };

async function worked<T>(
  options: CalicoPluginOptions,
  call: PluginCall,
  work: (given: Work) => Promise<T>,
): Promise<T> {
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

async function withEdge<T>(options: CalicoPluginOptions, given: Given, work: (given: Work) => Promise<T>): Promise<T> {
  const { call, log, settings } = given;
  const configuration = readNetworkConfiguration(call.configuration, options.variables);
  const request = await requestOf(options, given, configuration);
  await using datastore = await openClient(configuration, options);
  await using opened = new AsyncDisposableStack();
  let cluster: Promise<Datastore> | undefined;
  const warn = (text: string) => {
    options.warn(text);
    log("warning", text);
  };
  const edge: EndpointEdge = {
    clock: options.clock,
    warn,
    datastore,
    resources: openResources(datastore, { clock: options.clock }),
    cluster() {
      if (datastore.flavour === "kubernetes") return Promise.resolve(datastore);
      cluster ??= openCluster(configuration, options).then((each) => opened.use(each));
      return cluster;
    },
    ipam: createIpamCalls({ call, plugin: { ...options, warn }, datastore, ownFiles: options.ownFiles }),
    network,
  };
  log("info", `${call.command} of container ${call.containerId} on node ${request.node}, network ${settings.network}`);
  return await work({ request, edge, log });
}

async function requestOf(
  { variables }: CalicoPluginOptions,
  { call, settings }: Given,
  configuration: NetworkConfiguration,
): Promise<EndpointRequest> {
  const { containerId, netns, ifname, command } = call;
  if (!settings.nodenameFileOptional) mustExist(configuration.nodenameFile);
  const mtu = command === "ADD" ? readMtu(contentOf(mtuFile), settings, mtuFile) : settings.mtu;
  mustNotBeOurs(netns);
  const { pod } = readArguments(call.args === "" ? "" : `IgnoreUnknown=1;${call.args}`);
  const prefix = interfacePrefix(variables.FELIX_INTERFACEPREFIX);
  const hostSide = hostSideName(prefix, { pod, containerId });
  const node = await nodeNameOf(configuration);
  return { containerId, netns, ifname, pod, node, hostSide, mtu, settings, configuration: call.configuration };
}

function mustExist(nodenameFile: string): void {
  if (contentOf(nodenameFile) !== undefined) return;
  const advice = "check that the calico/node container is running and has mounted /var/lib/calico/";
  throw new CniError(cniErrorCodes.other, `stat ${nodenameFile}: no such file or directory: ${advice}`);
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

async function openClient(configuration: NetworkConfiguration, { clock }: CalicoPluginOptions): Promise<Datastore> {
  try {
    return await openDatastore(configuration.datastore(), { clock, log: silentLog });
  } catch (error) {
    const { problem } = error as { readonly problem?: unknown }; // a CattailError's message has the advice in it
    const why = typeof problem === "string" ? problem : messageOf(error);
    throw new CniError(cniErrorCodes.other, `error creating calico client: ${why}`, { cause: error });
  }
}

async function openCluster({ kubernetes }: NetworkConfiguration, { clock }: CalicoPluginOptions): Promise<Datastore> {
  if (kubernetes === undefined) {
    throw new CniError(cniErrorCodes.other, "pods are to be read, and the configuration has no kubernetes.kubeconfig");
  }
  return await openDatastore({ type: "kubernetes", ...kubernetes }, { clock, log: silentLog });
}

function saysVersion({ cniVersion }: JsonRecord): boolean {
  return typeof cniVersion === "string" && cniVersion !== "";
}

/** Real paths of what this process was started from. */
export function filesOfThisProgram(started: readonly (string | undefined)[]): readonly string[] {
  return started.flatMap((file) => {
    try {
      return file === undefined ? [] : [realpathSync(file)];
    } catch {
      return [];
    }
  });
}
