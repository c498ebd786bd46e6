// The ends of a question as people type them, and which place of the cluster each is.
import { CattailError, nearest, parseRange } from "../../base/lib/index.ts";
import type { HostEndpoint, Place, PolicyData, Workload } from "../policy/index.ts";
import { pathOfWorkload } from "../policy/index.ts";
import { listOf } from "./words.ts";

export type Subject =
  | { readonly is: "address"; readonly text: string }
  | { readonly is: "pod"; readonly namespace: string; readonly name: string }
  | { readonly is: "node"; readonly name: string }
  | { readonly is: "host endpoint"; readonly name: string }
  /** A pod that does not exist yet. */
  | {
      readonly is: "labels";
      readonly namespace: string;
      readonly labels: { readonly [name: string]: string };
      readonly account: string;
    };

const forms = `  NAMESPACE/POD           a pod (POD alone: of the namespace given with -n, else of "default")
  10.0.0.7                an address
  node/NAME               a process on the node itself
  hostendpoint/NAME       a host endpoint
  NAMESPACE/app=web,x=y   a pod that does not exist yet, by its labels (and NAMESPACE/app=web@ACCOUNT)`;

export const subjectForms = forms;

export function parseSubject(text: string, defaultNamespace: string): Subject {
  const isNet = parseRange(text) !== undefined;
  if (isNet && !text.includes("/")) return { is: "address", text };
  if (isNet || /^\d+(?:\.\d+){3}$/.test(text)) throw noAddress(text, { isNet });
  if (text.includes("=")) return parseLabels(text, defaultNamespace);
  const slash = text.indexOf("/");
  const [first, rest] = slash < 0 ? [defaultNamespace, text] : [text.slice(0, slash), text.slice(slash + 1)];
  if (first === "" || rest === "" || rest.includes("/")) throw unreadable(text);
  if (slash > 0 && first === "node") return { is: "node", name: rest };
  if (slash > 0 && /^(?:hostendpoint|hep)s?$/.test(first)) return { is: "host endpoint", name: rest };
  return { is: "pod", namespace: first, name: rest };
}

const labelPart = "[A-Za-z0-9](?:[-\\w.]{0,61}[A-Za-z0-9])?";
const label = new RegExp(`^(?:[a-z0-9][-a-z0-9.]{0,252}/)?${labelPart}=(?:${labelPart})?$`);

/** Names of labels may have a slash, too; no namespace has a dot, which what stands before it nearly always has. */
function parseLabels(text: string, defaultNamespace: string): Subject {
  const [, namespace = defaultNamespace, rest = ""] = /^(?:([-a-z0-9]+)\/)?(.*)$/s.exec(text) ?? [];
  const [pairs = "", account = "default", ...more] = rest.split("@");
  const labels = pairs.split(",");
  if (more.length > 0 || !labels.every((pair) => label.test(pair))) throw unreadable(text);
  return { is: "labels", namespace, labels: Object.fromEntries(labels.map((pair) => pair.split("="))), account };
}

function noAddress(text: string, { isNet }: { readonly isNet: boolean }): CattailError {
  return new CattailError("EXPLAIN_SUBJECT", {
    problem: isNet ? `${text} is a network, and explain answers for one address` : `${text} is no address`,
    next: isNet ? `Give one address of it, for example ${text.split("/")[0]}` : `Give one of:\n${forms}`,
  });
}

function unreadable(text: string): CattailError {
  return new CattailError("EXPLAIN_SUBJECT", {
    problem: `${JSON.stringify(text)} is none of what explain knows`,
    next: `Give one of:\n${forms}`,
  });
}

/** What it is called in the answer. */
export function subjectText(subject: Subject): string {
  switch (subject.is) {
    case "address":
      return subject.text;
    case "pod":
      return `${subject.namespace}/${subject.name}`;
    case "node":
      return `node ${subject.name}`;
    case "host endpoint":
      return `host endpoint ${subject.name}`;
    case "labels": {
      const pairs = Object.entries(subject.labels).map(([name, value]) => `${name}=${value}`);
      return `a pod with ${pairs.join(", ")} in ${subject.namespace}`;
    }
  }
}

/** Every address of the place, IPv4 first. Pods that do not exist are put into the data. */
export function placesOf(subject: Subject, data: PolicyData): readonly Place[] {
  switch (subject.is) {
    case "address":
      return [placeOfAddress(subject.text, data)];
    case "node":
      return placesOfNode(subject.name, data);
    case "host endpoint": {
      const endpoint = [...data.hostEndpoints.values()].find(({ id }) => id === subject.name);
      if (endpoint === undefined) throw notKnown("host endpoint", subject.name, hostEndpointNames(data));
      return placesOfHostEndpoint(endpoint, data);
    }
    case "pod": {
      const name = `${subject.namespace}/${subject.name}`;
      const workloads = [...data.workloads.values()];
      const found = workloads.find(({ workload }) => workload === name);
      if (found === undefined)
        throw notKnown(
          "pod",
          name,
          workloads.map(({ workload }) => workload),
        );
      return placesOfWorkload(found);
    }
    case "labels":
      return placesOfWorkload(addPod(subject, data));
  }
}

function placesOfWorkload(workload: Workload): readonly Place[] {
  return workload.addresses.map((address) => ({ is: "workload", workload, address }));
}

function placesOfNode(node: string, data: PolicyData): readonly Place[] {
  const addresses = data.nodeAddresses.get(node);
  if (addresses === undefined) throw notKnown("node", node, [...data.nodeAddresses.keys()]);
  if (addresses.length > 0) return addresses.map((address) => ({ is: "node", node, address }));
  throw new CattailError("EXPLAIN_NO_ADDRESS", {
    problem: `the node ${node} has no address that Calico knows`,
    next: "Its agent writes it when it starts; or ask about the address itself",
  });
}

function placesOfHostEndpoint({ host, addresses }: HostEndpoint, data: PolicyData): readonly Place[] {
  if (addresses.length === 0) return placesOfNode(host, data);
  return addresses.map((address) => ({ is: "node", node: host, address }));
}

/** Whose address it is, if anybody's. */
function placeOfAddress(text: string, data: PolicyData): Place {
  const address = parseRange(text);
  if (address === undefined) throw unreadable(text);
  const isIt = (one: typeof address) => one.family === address.family && one.first === address.first;
  const workload = [...data.workloads.values()].find(({ addresses }) => addresses.some(isIt));
  if (workload !== undefined) return { is: "workload", workload, address };
  const node = [...data.nodeAddresses].find(([, addresses]) => addresses.some(isIt))?.[0];
  return node === undefined ? { is: "outside", address } : { is: "node", node, address };
}

function hostEndpointNames(data: PolicyData): readonly string[] {
  return [...data.hostEndpoints.values()].map(({ id }) => id);
}

function notKnown(what: string, name: string, known: readonly string[]): CattailError {
  const guess = nearest(name, known);
  const listed = known.length === 0 ? `No ${what} is known at all` : `Known are ${listOf(known.toSorted(), "and")}`;
  return new CattailError("EXPLAIN_NOT_FOUND", {
    problem: `there is no ${what} ${name}${what === "pod" ? " with an address" : ""}`,
    next: guess === undefined ? listed : `Did you mean ${guess}?`,
  });
}

export function notKnownNamespace(namespace: string, data: PolicyData): CattailError {
  const known = [...data.profiles.keys()].flatMap((id) => (id.startsWith("kns.") ? [id.slice(4)] : []));
  return notKnown("namespace", namespace, known);
}

/** On a node of its own, with an address that nobody has: the highest of a pool. */
export function addPod(
  pod: Pick<Subject & { is: "labels" }, "namespace" | "labels" | "account"> & {
    readonly name?: string;
    readonly ports?: Workload["ports"];
  },
  data: PolicyData,
): Workload {
  const { namespace, labels, account } = pod;
  if (!data.profiles.has(`kns.${namespace}`)) throw notKnownNamespace(namespace, data);
  const name = pod.name ?? `pod-to-be-${data.workloads.size}`;
  const workload: Workload = {
    is: "workload",
    host: "a node to be chosen",
    orchestrator: "k8s",
    workload: `${namespace}/${name}`,
    endpoint: "eth0",
    interfaceName: "not made yet",
    isActive: true,
    addresses: freeAddresses(data),
    ports: pod.ports ?? [],
    allowedSources: [],
    labels: {
      "projectcalico.org/namespace": namespace,
      "projectcalico.org/orchestrator": "k8s",
      "projectcalico.org/serviceaccount": account,
      ...labels,
    },
    profileIds: [`kns.${namespace}`, `ksa.${namespace}.${account}`].filter((id) => data.profiles.has(id)),
  };
  data.workloads.set(pathOfWorkload(workload), workload);
  return workload;
}

/** One of each family that has a pool; where there is no pool, one of each family that no pool of anybody should have. */
function freeAddresses(data: PolicyData): Workload["addresses"] {
  const pools = [...data.pools.values()].filter(({ isForPods }) => isForPods);
  const nets = ([4, 6] as const).flatMap((family) => pools.find(({ net }) => net.family === family)?.net ?? []);
  const from =
    nets.length > 0 ? nets : ["100.127.0.0/16", "2001:db8:ffff::/64"].flatMap((text) => parseRange(text) ?? []);
  const taken = new Set([...data.workloads.values()].flatMap(({ addresses }) => addresses.map(({ first }) => first)));
  return from.map((net) => {
    const bits = net.family === 4 ? 32 : 128;
    let first = net.first + (1n << BigInt(bits - net.prefixLength)) - 2n;
    while (taken.has(first)) first -= 1n;
    return { family: net.family, first, prefixLength: bits };
  });
}
