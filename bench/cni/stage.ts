// What is measured on: a namespace that is a node, with a real API server in it, pods that wait for their network, and the plugins in folders of their own.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { crdManifest, customKinds } from "../../src/calico/kinds/index.ts";
import { type Cluster, startCluster } from "../../test/kit/cluster.ts";
import { installCrds } from "../../test/kit/crds.ts";
import { addPublicPlugins } from "../../test/kit/public-plugins.ts";
import type { Subject } from "./runtime.ts";

export const nodeName = "bench";

export async function startStage(folder: string, pods: number): Promise<Cluster> {
  const cluster = await startCluster();
  await installCrds(
    cluster,
    customKinds.map((kind) => crdManifest(kind)),
  );
  const create = (path: string, object: object) => cluster.ask("POST", path, object);
  await create("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: nodeName } });
  await create("/api/v1/namespaces/default/serviceaccounts", {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "default" },
  });
  const group = "/apis/crd.projectcalico.org/v1";
  const apiVersion = "crd.projectcalico.org/v1";
  await create(`${group}/clusterinformations`, {
    apiVersion,
    kind: "ClusterInformation",
    metadata: { name: "default" },
    spec: { datastoreReady: true, clusterGUID: "bench" },
  });
  await create(`${group}/ippools`, {
    apiVersion,
    kind: "IPPool",
    metadata: { name: "bench" },
    spec: { cidr: "10.244.0.0/18", blockSize: 24 },
  });
  for (let i = 0; i < pods; i += 1) {
    const { status, body } = await create("/api/v1/namespaces/default/pods", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `p${i}`, namespace: "default" },
      spec: { nodeName, containers: [{ name: "c", image: "c" }], automountServiceAccountToken: false },
    });
    if (status !== 201) throw new Error(`pod p${i} was refused: ${body}`);
  }
  copyFileSync(cluster.kubeconfig, join(folder, "kubeconfig"));
  return cluster;
}

const configuration = (folder: string, name: string) => ({
  cniVersion: "1.0.0",
  name: "k8s-pod-network",
  type: "calico",
  log_level: "error",
  datastore_type: "kubernetes",
  nodename: nodeName,
  nodename_file_optional: true,
  mtu: 1450,
  ipam_lock_file: join(folder, name, "ipam.lock"),
  ipam: { type: "calico-ipam" },
  policy: { type: "k8s" },
  kubernetes: { kubeconfig: join(folder, "kubeconfig") },
});

type Started = { readonly file: string; readonly socket: string };

export function ownSubject(who: string, folder: string, { file, socket }: Started): Subject {
  const name = who.replaceAll(/[^a-z]+/g, "-");
  const bin = join(folder, name);
  mkdirSync(bin);
  for (const each of ["calico", "calico-ipam"]) symlinkSync(resolve(file), join(bin, each));
  const variables = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}`,
    HOME: folder,
    CATTAIL_CNI_SOCKET: socket,
  };
  return { who, folder: bin, program: join(bin, "calico"), configuration: configuration(folder, name), variables };
}

/** `against`: a folder with calico and calico-ipam, or the combined program. */
export function originalSubject(folder: string, against: string): Subject {
  const variables = { PATH: process.env.PATH ?? "", HOME: folder };
  const bin = resolve(against);
  return {
    who: "original",
    folder: bin,
    program: join(bin, "calico"),
    configuration: configuration(folder, "original"),
    variables,
  };
}

/** What a plugin reaches that asks nobody: an interface, and an address from a file. */
export async function floorSubject(folder: string): Promise<Subject | string> {
  const bin = join(folder, "floor");
  const missing = await addPublicPlugins(bin, ["ptp", "host-local"]);
  if (missing !== undefined) return missing;
  const ipam = { type: "host-local", subnet: "10.99.0.0/16", dataDir: join(folder, "host-local") };
  return {
    who: "ptp, host-local",
    folder: bin,
    program: join(bin, "ptp"),
    configuration: { cniVersion: "1.0.0", name: "floor", type: "ptp", ipam },
    variables: { PATH: process.env.PATH ?? "", HOME: folder },
  };
}

/** Requests that the API server has answered, watches left out. */
export async function requestsOf(cluster: Cluster): Promise<number> {
  const { body } = await cluster.ask("GET", "/metrics");
  const lines = body.split("\n").filter((line) => line.startsWith("apiserver_request_total{"));
  const own = lines.filter(
    (line) =>
      !/verb="WATCH"/.test(line) && /resource="(pods|namespaces|nodes|ipam|ippools|ipres|block|cluster)/.test(line),
  );
  return own.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

export function bringUp(): void {
  execFileSync("ip", ["link", "set", "lo", "up"]);
}
