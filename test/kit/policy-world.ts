// Plays the recorded policy cases without a cluster: objects go through the conversions of the felix data set, and what comes
// out is the data that verdicts are made from. Also reads the recordings' flows.
import { readFileSync } from "node:fs";
import { isRecord, type JsonRecord, parseRange, silentLog } from "../../src/base/lib/index.ts";
import { recognise } from "../../src/calico/datastore/directory/recognise.ts";
import type { FollowEvent, Revision } from "../../src/calico/datastore/index.ts";
import { builtInTiers, type Kind } from "../../src/calico/kinds/index.ts";
import { type Flow, type Place, PolicyData, protocolNumber } from "../../src/calico/policy/index.ts";
import { createSyncerCore, feedsOf } from "../../src/calico/syncer/index.ts";

export type ApiObject = JsonRecord & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonRecord & { readonly name: string; readonly namespace?: string };
};

export type PodOfWorld = {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly ips: readonly string[];
  readonly labels?: JsonRecord;
  readonly annotations?: JsonRecord;
  readonly serviceAccount?: string;
  readonly ports?: readonly { readonly name: string; readonly port: number; readonly protocol: string }[];
};

export type Operation = {
  readonly op: string;
  readonly do?: string;
  readonly objects?: readonly ApiObject[];
  readonly template?: ApiObject;
  readonly count?: number;
  readonly start?: number;
  readonly pods?: readonly (PodOfWorld | string)[];
  readonly pod?: string;
  readonly ips?: readonly string[];
  readonly phase?: string;
  readonly object?: boolean;
  readonly run?: string;
};

export type PolicyCase = {
  readonly name: string;
  readonly about: string;
  readonly env?: { readonly [name: string]: string };
  readonly steps: readonly { readonly about?: string; readonly do: readonly Operation[] }[];
  readonly expect: readonly { readonly flows?: { readonly [flow: string]: unknown } }[];
};

const vectors = new URL("../vectors/policy/", import.meta.url);

export function policyCases(): readonly PolicyCase[] {
  return JSON.parse(readFileSync(new URL("cases.json", vectors), "utf8"));
}

const hosts: { readonly [place: string]: readonly string[] } = {
  node: ["192.0.2.1", "2001:db8::1"],
  nodeb: ["192.0.2.20", "2001:db8::20"],
  ext1: ["192.0.2.11", "2001:db8::11"],
  ext2: ["192.0.2.12", "2001:db8::12"],
};

/** Those that a server makes where they are missing. */
const serversTiers: readonly ApiObject[] = builtInTiers.map(({ name, ...spec }) => ({
  apiVersion: "crd.projectcalico.org/v1",
  kind: "Tier",
  metadata: { name },
  spec,
}));

export class PolicyWorld {
  readonly data = new PolicyData();
  /** Those of the beginning. */
  readonly pods: readonly PodOfWorld[];
  /** Every key that has a value now. */
  readonly said = new Map<string, string>();
  readonly #core = createSyncerCore({
    flavour: "kubernetes",
    usePodCidr: false,
    interfacePrefix: "",
    feeds: feedsOf({ flavour: "kubernetes", usePodCidr: false }),
    log: silentLog,
  });
  readonly #pods = new Map<string, { pod: PodOfWorld; phase: string }>();
  #revision = 0;
  /** What is written while no Typha runs reaches the agent later. */
  #untilTyphaIsBack: Operation[] | undefined;

  constructor() {
    const world = JSON.parse(readFileSync(new URL("world.json", vectors), "utf8"));
    for (const kind of this.#core.kinds) this.#take(kind, [{ is: "status", status: 2 }]);
    for (const object of [...world.objects, ...serversTiers]) this.write(object);
    this.pods = world.pods;
    for (const pod of this.pods) this.#writePod(pod);
  }

  do(operation: Operation): void {
    if (operation.op === "typha") this.#untilTyphaIsBack = operation.do === "stop" ? [] : this.#catchUp();
    else if (this.#untilTyphaIsBack !== undefined) this.#untilTyphaIsBack.push(operation);
    else this.#carryOut(operation);
  }

  #catchUp(): undefined {
    for (const operation of this.#untilTyphaIsBack ?? []) this.#carryOut(operation);
  }

  #carryOut(operation: Operation): void {
    const { op, objects = [], pods = [], pod: name = "" } = operation;
    if (op === "create" || op === "update") for (const object of objects) this.write(object);
    else if (op === "delete") for (const object of objects) this.remove(object);
    else if (op === "generate") for (const object of generated(operation)) this.write(object);
    else if (op === "pod" && operation.object !== false)
      for (const pod of pods) this.#writePod(typeof pod === "string" ? this.#podNamed(pod) : pod);
    else if (op === "pod-delete") for (const pod of pods) this.#deletePod(pod);
    else if (op === "pod-phase") this.#writePod(this.#podNamed(name), operation.phase);
    else if (op === "pod-address") this.#writePod({ ...this.#podNamed(name), ips: operation.ips ?? [] });
  }

  write(object: ApiObject): void {
    const { name, namespace = "" } = object.metadata;
    const known = this.#pods.get(`${namespace}/${name}`);
    if (object.kind === "Pod" && known !== undefined) {
      // Only labels and annotations of a pod can change, as the recordings' own writer has it.
      const { labels, annotations } = object.metadata;
      this.#writePod({ ...known.pod, ...asMap("labels", labels), ...asMap("annotations", annotations) }, known.phase);
      return;
    }
    this.#revision += 1;
    const revision = String(this.#revision) as Revision; // a revision is what the datastore makes of it
    const metadata = {
      uid: "00000000-0000-4000-8000-000000000000",
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...object.metadata,
      resourceVersion: revision,
    };
    const value = { ...withApiDefaults(object), metadata };
    this.#take(kindOf(object), [{ is: "set", origin: "watch", object: { id: { namespace, name }, revision, value } }]);
  }

  remove(object: ApiObject): void {
    const { name, namespace = "" } = object.metadata;
    this.#take(kindOf(object), [{ is: "delete", id: { namespace, name } }]);
  }

  /** Undefined: a flow that is not about policy alone, for this reason. */
  flow(text: string): Flow | { readonly left: string } {
    const [, from = "", to = "", protocol = "", six = "", port = "", options = ""] =
      /^(\S+) > (\S+) ([a-z]+)(6?)(?::(\S+))?(?: \| (.*))?$/.exec(text) ?? [];
    const family = six === "6" ? 6 : 4;
    const source = this.place(from, family);
    const destination = this.place(to, family);
    if (source === undefined || destination === undefined) return { left: `${from} or ${to} has no such address` };
    if (options.includes("from=")) return { left: "a source address that is not the sender's" };
    const sourcePort = /sport=(\d+)/.exec(options)?.[1];
    const [type, code] = port.split("/").map(Number);
    const number =
      protocol === "ip" ? Number(port) : protocolNumber(protocol === "icmp" && family === 6 ? "icmpv6" : protocol);
    if (number === undefined) throw new Error(`cannot read the flow ${text}`);
    const isIcmp = protocol === "icmp";
    const echo = { type: family === 4 ? 8 : 128, code: 0 };
    return {
      source,
      destination,
      protocol: number,
      ...(isIcmp ? { icmp: port === "" ? echo : { type: type ?? 0, code: code ?? 0 } } : {}),
      ...(isIcmp || protocol === "ip"
        ? {}
        : { destinationPort: Number(port), sourcePort: Number(sourcePort ?? 40000) }),
    };
  }

  place(name: string, family: 4 | 6): Place | undefined {
    const workload = [...this.data.workloads.values()].find((one) => one.workload === name);
    if (workload !== undefined) {
      const address = workload.addresses.find((one) => one.family === family);
      return address === undefined ? undefined : { is: "workload", workload, address };
    }
    const pod = this.#pods.get(name)?.pod;
    const text = (pod?.ips ?? hosts[name] ?? [name]).find((one) => parseRange(one)?.family === family);
    const address = text === undefined ? undefined : parseRange(text);
    if (address === undefined) return undefined;
    const host = Object.keys(hosts).find((one) => one === name || hosts[one]?.includes(name));
    if (host === "node") return { is: "node", node: "node-a", address };
    if (host === "nodeb") return { is: "node", node: "node-b", address };
    return { is: "outside", address };
  }

  #podNamed(name: string): PodOfWorld {
    const known = this.#pods.get(name);
    if (known === undefined) throw new Error(`no pod ${name}`);
    return known.pod;
  }

  #writePod(pod: PodOfWorld, phase = "Running"): void {
    const { namespace, name } = pod;
    this.#pods.delete(`${namespace}/${name}`);
    this.write(podObject(pod, phase));
    this.#pods.set(`${namespace}/${name}`, { pod, phase });
  }

  #deletePod(given: PodOfWorld | string): void {
    const { namespace, name } = typeof given === "string" ? this.#podNamed(given) : given;
    this.remove(podObject(this.#podNamed(`${namespace}/${name}`), "Running"));
  }

  #take(kind: Kind, events: readonly FollowEvent[]): void {
    for (const { syncer, updates } of this.#core.apply(kind, events))
      if (syncer === "felix") for (const { path, value } of updates) this.#hear(path, value);
  }

  #hear(path: string, value: string | undefined): void {
    this.data.set(path, value);
    if (value === undefined) this.said.delete(path);
    else this.said.set(path, value);
  }
}

function kindOf({ apiVersion, kind }: ApiObject) {
  const known = recognise(apiVersion, kind);
  if (known.is !== "ours") throw new Error(`${apiVersion} ${kind} is no kind of ours`);
  return known.kind;
}

function asMap(name: "labels" | "annotations", value: unknown) {
  return isRecord(value) ? { [name]: value } : { [name]: {} };
}

function podObject(pod: PodOfWorld, phase: string): ApiObject {
  const { namespace, name, labels = {}, annotations = {}, ports = [] } = pod;
  const container = {
    name: "c",
    ports: ports.map((port) => ({ name: port.name, containerPort: port.port, protocol: port.protocol })),
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace, name, labels, annotations },
    spec: { nodeName: pod.node, containers: [container], serviceAccountName: pod.serviceAccount ?? "default" },
    status: { phase, podIP: pod.ips[0], podIPs: pod.ips.map((ip) => ({ ip })) },
  };
}

function* generated({ template, count = 0, start = 0 }: Operation): Generator<ApiObject> {
  for (let number = start; number < start + count; number += 1) {
    const text = JSON.stringify(template)
      .replaceAll("{i}", String(number).padStart(5, "0"))
      .replaceAll("{hi}", String(Math.floor(number / 256)))
      .replaceAll("{lo}", String(number % 256));
    yield JSON.parse(text);
  }
}

/** What kube-apiserver fills in before it stores a NetworkPolicy. */
function withApiDefaults(object: ApiObject): ApiObject {
  if (object.apiVersion !== "networking.k8s.io/v1" || !isRecord(object.spec)) return object;
  const { spec } = object;
  const hasEgress = Array.isArray(spec.egress) && spec.egress.length > 0;
  const policyTypes = spec.policyTypes ?? (hasEgress ? ["Ingress", "Egress"] : ["Ingress"]);
  const rules = (list: unknown) => (Array.isArray(list) ? list.map(withPortDefaults) : list);
  return { ...object, spec: { ...spec, policyTypes, ingress: rules(spec.ingress), egress: rules(spec.egress) } };
}

function withPortDefaults(rule: JsonRecord): JsonRecord {
  if (!Array.isArray(rule.ports)) return rule;
  return { ...rule, ports: rule.ports.map((port: JsonRecord) => ({ protocol: "TCP", ...port })) };
}
