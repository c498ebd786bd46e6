// Opens the datastore that was asked for, by file or environment, as v3 objects. `connect` is what commands call.
import { access, readFile } from "node:fs/promises";
import { delimiter } from "node:path";
import { CattailError, isRecord, type Log, systemClock } from "../../../base/lib/index.ts";
import { endpointsOfDomain, openDatastore } from "../../../calico/datastore/index.ts";
import { openResources } from "../../../calico/resources/index.ts";
import type { Invocation } from "../command.ts";
import type { Connection } from "../connection.ts";
import type { Console } from "../console.ts";
import { type Asked, datastoreOptions } from "./datastore-options.ts";
import { ipamStepsOf } from "./ipam-steps.ts";
import { readConfig } from "./read-config.ts";
import { ConfigProblem } from "./settings.ts";

/** The one connection of this run. */
export function connect(invocation: Invocation, _console: Console): Promise<Connection> {
  return invocation.connect();
}

/** A person waits: who does not answer three times within a second is said to be away. */
const mostUnanswered = 3;

export type OpenOptions = Omit<Asked, "config"> & {
  /** calicoctl.cfg */
  readonly file: string;
  readonly log: Log;
};

/** Throws CtlError for a file that is not there, ConfigProblem for what else is wrong with the configuration. */
export async function openConnection({ file, log, ...asked }: OpenOptions): Promise<Connection> {
  let isOfKubernetes = false;
  try {
    const config = await readConfig({ file, env: asked.env, log, readText });
    const options = await datastoreOptions({ ...asked, config }, endpointsOfDomain);
    isOfKubernetes = options.type === "kubernetes";
    if (options.type === "kubernetes" && options.kubeconfig !== undefined) await mustExist(options.kubeconfig);
    const datastore = await openDatastore(options, { clock: systemClock, log });
    const resources = openResources(datastore, {
      interfacePrefix: asked.env.FELIX_INTERFACEPREFIX ?? "",
      usePodCidr: /^(?:1|t|true)$/i.test(config.usePodCIDR ?? ""),
      ipam: ipamStepsOf(datastore),
      mostUnanswered,
    });
    return { type: options.type, datastore, resources, close: async () => await datastore[Symbol.asyncDispose]() };
  } catch (error) {
    throw inWordsOfOriginal(error, isOfKubernetes);
  }
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (isRecord(error) && error.code === "ENOENT") return undefined;
    throw error;
  }
}

const noConfiguration =
  "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable";

/** Of several files one is enough. */
async function mustExist(kubeconfig: string): Promise<void> {
  const files = kubeconfig.split(delimiter).filter((file) => file !== "");
  for (const file of files) {
    try {
      return await access(file);
    } catch {
      // perhaps the next one is there
    }
  }
  throw new ConfigProblem(files.length === 1 ? `stat ${files[0]}: no such file or directory` : noConfiguration, {
    cause: advice("Point KUBECONFIG, or kubeconfig in calicoctl.cfg, at a kubeconfig that exists"),
    isOfKubernetes: true,
  });
}

/** What base/kube says of a kubeconfig, in the words that scripts know. Anything else keeps its own. */
function inWordsOfOriginal(error: unknown, isOfKubernetes: boolean): unknown {
  if (!(error instanceof CattailError)) return error;
  const context = /there is no context "(.*)"$/.exec(error.problem)?.[1];
  const isNowhere = error.problem.startsWith("there is no kubeconfig");
  const words = context !== undefined ? `context "${context}" does not exist` : isNowhere ? noConfiguration : undefined;
  return new ConfigProblem(words ?? error.problem, { cause: error, isOfKubernetes });
}

/** What to do about it, for whoever prints the error. */
function advice(next: string): { readonly next: string } {
  return { next };
}
