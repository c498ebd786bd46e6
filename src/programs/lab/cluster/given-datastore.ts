// A datastore that a lab is given: how its address looks from inside, where only the relays lead out. Nodes reach it on their own 127.0.0.1, so
// that no further interface disturbs the detection of their addresses.
//
//   node: 127.0.0.1:PORT ─▶ unix socket in the lab's folder ─▶ (outside) the server
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse, stringify } from "yaml";
import { CattailError, isRecord, type JsonRecord, messageOf, silentLog, systemClock } from "../../../base/lib/index.ts";
import { replaceFile } from "../../../base/linux/files.ts";
import { type DatastoreOptions, isDatastoreError, openDatastore } from "../../../calico/datastore/index.ts";
import type { LabOptions } from "./lab.ts";

export type GivenDatastore = {
  readonly inside: Pick<LabOptions, "datastore" | "told">;
  /** How it is reached from outside of the lab. Undefined, as the relay: a folder of the lab's, which is there for everybody. */
  readonly outside?: DatastoreOptions;
  /** The variables with which `cattail ctl` opens it. */
  readonly variables: string;
  readonly relay?: { readonly host: string; readonly port: number; readonly socket: string };
};

export type DatastoreFlags = { readonly kubeconfig?: string; readonly etcd?: string };

export async function givenDatastore(flags: DatastoreFlags, folder: string): Promise<GivenDatastore> {
  if (flags.kubeconfig !== undefined && flags.etcd !== undefined)
    throw new CattailError("LAB_DATASTORE", {
      problem: "two datastores are given, and a lab has one",
      next: "Give --kubeconfig or --etcd, or neither: then it is a folder",
    });
  const socket = join(folder, "datastore.sock");
  if (flags.kubeconfig !== undefined) return await kubernetes(flags.kubeconfig, folder, socket);
  if (flags.etcd !== undefined) return etcd(flags.etcd, socket);
  const path = join(folder, "objects");
  return {
    inside: {
      datastore: { type: "directory", path },
      told: {
        env: { DATASTORE_TYPE: "directory", DATASTORE_DIRECTORY: path },
        plugin: { datastore_type: "directory", datastore_directory: path },
      },
    },
    variables: `DATASTORE_TYPE=directory DATASTORE_DIRECTORY=${path}`,
  };
}

async function kubernetes(file: string, folder: string, socket: string): Promise<GivenDatastore> {
  const config = readConfig(file);
  const list = (name: string) => (isRecord(config) && Array.isArray(config[name]) ? config[name].filter(isRecord) : []);
  const wanted = isRecord(config) ? config["current-context"] : undefined;
  const context = list("contexts").find(({ name }) => name === wanted)?.context;
  const named = list("clusters").find(({ name }) => isRecord(context) && name === context.cluster);
  const cluster = isRecord(named?.cluster) ? named.cluster : undefined;
  if (cluster === undefined || typeof cluster.server !== "string")
    throw unusable(file, "its current context has no cluster");
  const url = new URL(cluster.server);
  const port = Number(url.port || 443);
  const changed: JsonRecord = {
    ...(isRecord(config) ? config : {}),
    clusters: [
      {
        name: named?.name,
        cluster: {
          ...cluster,
          server: `${url.protocol}//127.0.0.1:${port}`,
          ...(url.hostname === "127.0.0.1" ? {} : { "tls-server-name": url.hostname }),
        },
      },
    ],
  };
  const kubeconfig = join(folder, "kubeconfig");
  await replaceFile(kubeconfig, stringify(changed), { mode: 0o600 });
  const datastore: DatastoreOptions = { type: "kubernetes", kubeconfig };
  return {
    inside: {
      datastore,
      told: {
        env: { DATASTORE_TYPE: "kubernetes", KUBECONFIG: kubeconfig },
        plugin: { datastore_type: "kubernetes", kubernetes: { kubeconfig } },
      },
    },
    outside: { type: "kubernetes", kubeconfig: resolve(file) },
    variables: `DATASTORE_TYPE=kubernetes KUBECONFIG=${resolve(file)}`,
    relay: { host: url.hostname, port, socket },
  };
}

function readConfig(file: string): unknown {
  try {
    return parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw unusable(file, messageOf(error).split("\n")[0] ?? "");
  }
}

const answerMs = 15_000;

/** Said before anything is built: through the lab's relays a server that is not there looks like one that hangs up. */
export async function requireReadable(options: DatastoreOptions): Promise<void> {
  try {
    const signal = AbortSignal.timeout(answerMs);
    await using datastore = await openDatastore(options, { clock: systemClock, log: silentLog });
    for await (const _ of datastore.list("IPPool", { signal })) return;
  } catch (error) {
    const hasNoKinds = isDatastoreError(error, "no-such-kind");
    throw new CattailError("LAB_DATASTORE", {
      problem: hasNoKinds
        ? "the API server does not know Calico's objects: it has no CRDs of theirs"
        : `the datastore cannot be read: ${messageOf(error)}`,
      next: hasNoKinds
        ? "Install them: cattail manifests crds | kubectl apply --server-side -f -"
        : "See whether it runs, can be reached from here, and knows these credentials",
      cause: error,
    });
  }
}

function etcd(urls: string, socket: string): GivenDatastore {
  const [first = ""] = urls.split(",");
  const url = URL.parse(first);
  if (url === null || url.hostname === "")
    throw new CattailError("LAB_ETCD", {
      problem: `${JSON.stringify(first)} is not the address of an etcd`,
      next: "Give a URL: --etcd http://127.0.0.1:2379",
    });
  const port = Number(url.port || 2379);
  const endpoint = `${url.protocol}//127.0.0.1:${port}`;
  return {
    inside: {
      datastore: { type: "etcdv3", endpoints: [endpoint] },
      told: {
        env: { DATASTORE_TYPE: "etcdv3", ETCD_ENDPOINTS: endpoint },
        plugin: { datastore_type: "etcdv3", etcd_endpoints: endpoint },
      },
    },
    outside: { type: "etcdv3", endpoints: urls.split(",") },
    variables: `DATASTORE_TYPE=etcdv3 ETCD_ENDPOINTS=${urls}`,
    relay: { host: url.hostname, port, socket },
  };
}

function unusable(file: string, why: string): CattailError {
  return new CattailError("LAB_KUBECONFIG", {
    problem: `${file} cannot be used: ${why}`,
    next: "Give a kubeconfig whose current context names a cluster: kubectl config view --minify --flatten",
  });
}
