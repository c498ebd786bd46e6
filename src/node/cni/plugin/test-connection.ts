// `calico -t`, for installers, which put the network configuration in place when it succeeds: whether the datastore answers, and may be used, and
// the API server beside it answers as well. A network configuration is read, or a whole conflist.
import { goJsonProblem, isRecord, type JsonRecord, messageOf } from "../../../base/lib/index.ts";
import type { Datastore, KubernetesDatastore } from "../../../calico/datastore/index.ts";
import { mustBeReady, readEndpointSettings } from "../../endpoints/index.ts";
import type { Backed } from "../backing.ts";
import { readNetworkConfiguration } from "../configuration.ts";
import type { PluginOptions } from "../options.ts";
import { CniError, cniErrorCodes } from "../protocol/cni-error.ts";
import { withPlainNames } from "../protocol/netconf-types.ts";
import { timeLimit } from "../time-limit.ts";

const limitMs = 2_000;

/** Throws CniError. */
export async function testConnection(options: PluginOptions, stdin: string): Promise<void> {
  try {
    const value = parsed(stdin);
    const configuration = readNetworkConfiguration(value, options.variables);
    mustBeName(configuration.name);
    readEndpointSettings({ ...value, name: configuration.name }); // which throws what cannot be
    await using backed = await options.backing.open(configuration);
    await withinLimit((signal) => mustBeReady(backed.resources, signal));
    if (configuration.kubernetes?.kubeconfig !== undefined) await mustAnswer(await clusterOf(backed));
  } catch (error) {
    throw new CniError(cniErrorCodes.connection, "data store connection failed", {
      details: messageOf(error),
      cause: error,
    });
  }
}

function mustBeName(name: string): void {
  if (/^[a-zA-Z0-9_.-]+$/.test(name)) return;
  const known = "Only letters a-z, numbers 0-9, and symbols _.- are supported";
  throw new Error(`invalid characters detected in the given network name. ${known}`);
}

async function clusterOf(backed: Backed): Promise<Datastore> {
  try {
    return await backed.cluster();
  } catch (error) {
    throw new Error(`error building K8s client config: ${messageOf(error)}`, { cause: error });
  }
}

/** Its version is told to everybody who has a name there. */
async function mustAnswer(cluster: Datastore): Promise<void> {
  if (!("api" in cluster)) return;
  const { api } = cluster as KubernetesDatastore; // only an API server has one
  try {
    await withinLimit((signal) => api.json({ method: "GET", path: "/version", signal }));
  } catch (error) {
    throw new Error(`unable to connect to K8s server: ${messageOf(error)}`, { cause: error });
  }
}

async function withinLimit<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  using limit = timeLimit(limitMs);
  return await work(limit.signal);
}

function parsed(stdin: string): JsonRecord {
  const problem = goJsonProblem(stdin);
  if (problem !== undefined) throw new Error(`failed to load netconf: ${problem}`);
  const value: unknown = JSON.parse(stdin);
  return isRecord(value) ? withPlainNames(partOfList(value)) : {};
}

/** What a runtime would give us of it. */
function partOfList(value: JsonRecord): JsonRecord {
  const { plugins, ...rest } = value;
  const own = Array.isArray(plugins) ? plugins.find((each) => isRecord(each) && each.type === "calico") : undefined;
  return isRecord(own) ? { ...rest, ...own } : value;
}
