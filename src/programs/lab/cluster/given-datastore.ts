// A datastore that a lab is given: how its address looks from inside, where only the relays lead out. Nodes reach it on their own 127.0.0.1, so
// that no further interface disturbs the detection of their addresses.
//
//   node: 127.0.0.1:PORT ─▶ unix socket in the lab's folder ─▶ (outside) the server
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { CattailError, isRecord, type JsonRecord } from "../../../base/lib/index.ts";
import { replaceFile } from "../../../base/linux/files.ts";
import type { DatastoreOptions } from "../../../calico/datastore/index.ts";
import type { LabOptions } from "./lab.ts";

export type GivenDatastore = {
  readonly inside: Pick<LabOptions, "datastore" | "told">;
  /** Undefined: a folder, which is there for everybody. */
  readonly relay?: { readonly host: string; readonly port: number; readonly socket: string };
};

export type DatastoreFlags = { readonly kubeconfig?: string; readonly etcd?: string };

export async function givenDatastore(flags: DatastoreFlags, folder: string): Promise<GivenDatastore> {
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
  };
}

async function kubernetes(file: string, folder: string, socket: string): Promise<GivenDatastore> {
  const config: unknown = parse(readFileSync(file, "utf8"));
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
    relay: { host: url.hostname, port, socket },
  };
}

function etcd(urls: string, socket: string): GivenDatastore {
  const [first = ""] = urls.split(",");
  const url = new URL(first);
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
    relay: { host: url.hostname, port, socket },
  };
}

function unusable(file: string, why: string): CattailError {
  return new CattailError("LAB_KUBECONFIG", {
    problem: `${file} cannot be used: ${why}`,
    next: "Give a kubeconfig whose current context names a cluster: kubectl config view --minify --flatten",
  });
}
