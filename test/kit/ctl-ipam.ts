// For the tests of ctl ipam: a datastore in memory with some objects, an invocation on it, and a console that remembers.
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { type Datastore, openDatastore } from "../../src/calico/datastore/index.ts";
import { openResources } from "../../src/calico/resources/index.ts";
import type { CtlCommand, Invocation } from "../../src/programs/ctl/command.ts";
import type { Connection } from "../../src/programs/ctl/connection.ts";
import type { Console } from "../../src/programs/ctl/console.ts";

type Stored = { readonly kind: string; readonly metadata: { readonly name: string }; readonly spec: object };

export function pool(name: string, cidr: string, more: object = {}): Stored {
  return { kind: "IPPool", metadata: { name }, spec: { cidr, blockSize: cidr.includes(":") ? 122 : 26, ...more } };
}

export function block(cidr: string, given: { owner?: string; held: { [ordinal: number]: object } }): Stored {
  const size = 2 ** ((cidr.includes(":") ? 128 : 32) - Number(cidr.split("/")[1]));
  const ordinals = Array.from({ length: size }, (_, ordinal) => ordinal);
  const held = Object.keys(given.held).map(Number);
  const at = (ordinal: number) => held.indexOf(ordinal);
  return {
    kind: "IPAMBlock",
    metadata: { name: cidr.replaceAll(/[.:/]/g, "-") },
    spec: {
      cidr,
      affinity: given.owner,
      allocations: ordinals.map((ordinal) => (at(ordinal) < 0 ? null : at(ordinal))),
      unallocated: ordinals.filter((ordinal) => at(ordinal) < 0),
      attributes: Object.values(given.held),
      sequenceNumber: 1763312345678901234n,
      sequenceNumberForAllocation: Object.fromEntries(held.map((ordinal) => [String(ordinal), 1763312345678901230n])),
      strictAffinity: false,
      deleted: false,
    },
  };
}

export function handle(id: string, counts: { readonly [cidr: string]: number }): Stored {
  return {
    kind: "IPAMHandle",
    metadata: { name: id.toLowerCase() },
    spec: { handleID: id, block: counts, deleted: false },
  };
}

export function affinity(node: string, cidr: string): Stored {
  return {
    kind: "BlockAffinity",
    metadata: { name: `${node}-${cidr.replaceAll(/[.:/]/g, "-")}` },
    spec: { node, cidr, type: "host", state: "confirmed", deleted: false },
  };
}

export function clusterInformation(spec: object): Stored {
  return {
    kind: "ClusterInformation",
    metadata: { name: "default" },
    spec: { clusterGUID: "0123456789abcdef0123456789abcdef", clusterType: "k8s,bgp,kdd", ...spec },
  };
}

/** Kubernetes' node, with Calico's annotations. */
export function node(name: string, annotations: { readonly [name: string]: string } = {}) {
  const calico = Object.entries(annotations).map(([each, value]) => [`projectcalico.org/${each}`, value]);
  return { apiVersion: "v1", kind: "Node", metadata: { name, annotations: Object.fromEntries(calico) }, spec: {} };
}

export function pod(
  name: string,
  { node: nodeName, addresses, phase = "Running" }: { node: string; addresses: readonly string[]; phase?: string },
) {
  const [podIP] = addresses;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: { nodeName },
    status: { phase, podIP, podIPs: addresses.map((ip) => ({ ip })) },
  };
}

export function service(name: string, ip: string) {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default" },
    spec: { type: "LoadBalancer" },
    status: { loadBalancer: { ingress: [{ ip }] } },
  };
}

export async function connectionTo(objects: readonly object[]): Promise<Connection> {
  const datastore: Datastore = await openDatastore({ type: "memory" }, { clock: systemClock, log: silentLog });
  for (const object of objects) {
    const { kind, apiVersion = "projectcalico.org/v3", ...rest } = object as Stored & { apiVersion?: string };
    await datastore.create(kind as "IPPool", { kind, apiVersion, ...rest });
  }
  return { type: "directory", datastore, resources: openResources(datastore), close: async () => {} };
}

/** A flag is given by its value, a switch by "", and one that may be repeated by a list. */
export type Given = { readonly [flag: string]: string | readonly string[] };

export function invocationOn(connection: Connection, flags: Given, words: readonly string[] = []): Invocation {
  const values = (flag: string) => [flags[flag] ?? []].flat();
  return {
    command: {} as CtlCommand, // nobody in this folder asks
    words,
    isSet: (flag) => flags[flag] !== undefined,
    value: (flag) => values(flag).at(-1),
    values,
    connect: async () => connection,
  };
}

export async function withStored(objects: readonly object[], flags: Given): Promise<Invocation> {
  return invocationOn(await connectionTo(objects), flags);
}

export type RecordingConsole = Console & { lines(): string[]; errors(): string };

export function ipamConsole(env: Console["env"] = {}): RecordingConsole {
  let out = "";
  let err = "";
  return {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    readStdin: async () => "",
    env,
    isTerminal: false,
    signal: new AbortController().signal,
    lines: () => out.replace(/\n$/, "").split("\n"),
    errors: () => err,
  };
}
