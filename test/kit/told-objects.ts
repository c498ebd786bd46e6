// Writes Calico objects to a cluster and knows, without asking any code of ours, which keys and values each sort of agent
// has to hold afterwards. Keys of other objects (namespaces, nodes, the servers' own endpoints) are not its business.
import { deepEqual } from "node:assert/strict";
import type { SyncerType } from "../../src/calico/model/index.ts";
import type { Answer, Cluster } from "./cluster.ts";
import { eventually } from "./eventually.ts";

export type PolicyForm = "modern" | "legacy";

/** What becomes of an object: the key, and the part of the value that the object decides. */
type Outcome = { readonly syncers: readonly SyncerType[]; readonly form?: PolicyForm; key: string; says: unknown };

const api = "/apis/crd.projectcalico.org/v1";
const resources = "/calico/resources/v3/projectcalico.org";

export class ToldObjects {
  readonly #cluster: Cluster;
  readonly #outcomes = new Map<string, readonly Outcome[]>();
  /** Keys of objects that were deleted: the only ones of ours that an agent may be told to delete. */
  readonly deleted = new Set<string>();
  #round = 0;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  get rounds(): number {
    return this.#round;
  }

  /** Something new, something changed and something deleted, for each of the four sorts of agents. */
  async writeRound(): Promise<void> {
    this.#round += 1;
    const round = this.#round;
    await this.#set("globalnetworksets", `walk-${round}`, networkSet(`walk-${round}`, round));
    await this.#set("globalnetworksets", "walk-changing", networkSet("walk-changing", round));
    await this.#set("globalnetworkpolicies", `walk-${round}`, policy(`walk-${round}`, round));
    await this.#set("ippools", "walk-pool", pool(round));
    await this.#set("bgppeers", "walk-peer", peer(round));
    await this.#set("caliconodestatuses", "walk-status", nodeStatus(round));
    if (round <= 2) return;
    await this.#delete("globalnetworksets", `walk-${round - 2}`);
    await this.#delete("globalnetworkpolicies", `walk-${round - 2}`);
  }

  /** Undefined: the state holds of our objects exactly what it should. Else the first difference, in words. */
  differenceTo(state: ReadonlyMap<string, string>, syncer: SyncerType, form: PolicyForm): string | undefined {
    const wanted = new Map<string, unknown>();
    for (const outcome of [...this.#outcomes.values()].flat()) {
      if (outcome.form !== undefined && outcome.form !== form) continue;
      if (outcome.syncers.includes(syncer)) wanted.set(outcome.key, outcome.says);
    }
    for (const [key, says] of wanted) {
      const value = state.get(key);
      if (value === undefined) return `lacks ${key}`;
      try {
        deepEqual(essence(key, value), says);
      } catch {
        return `${key} is ${value}, and should say ${JSON.stringify(says)}`;
      }
    }
    for (const key of state.keys()) if (isOurs(key) && !wanted.has(key)) return `still has ${key}`;
    return undefined;
  }

  async #set(plural: string, name: string, { spec, outcomes }: { spec: object; outcomes: Outcome[] }): Promise<void> {
    const object = { apiVersion: "crd.projectcalico.org/v1", kind: kinds[plural], metadata: { name }, spec };
    await this.#write("PATCH", `${api}/${plural}/${name}?fieldManager=walk&force=true`, object);
    this.#outcomes.set(`${plural}/${name}`, outcomes);
  }

  async #delete(plural: string, name: string): Promise<void> {
    const outcomes = this.#outcomes.get(`${plural}/${name}`) ?? [];
    for (const { key } of outcomes) this.deleted.add(key);
    await this.#write("DELETE", `${api}/${plural}/${name}`);
    this.#outcomes.delete(`${plural}/${name}`);
  }

  // An API server that has just started hangs up, or asks for patience while it opens its storage; so do real writers.
  async #write(method: "PATCH" | "DELETE", path: string, body?: object): Promise<void> {
    let answer: Answer | undefined;
    const isWritten = async () => {
      answer = await this.#cluster.ask(method, path, body).catch(() => undefined);
      const isGone = method === "DELETE" && answer?.status === 404; // by an attempt whose answer was lost
      return isGone || (answer !== undefined && answer.status < 300);
    };
    await eventually(isWritten, () => `${method} ${path}: ${answer?.status} ${answer?.body.slice(0, 300)}`);
  }
}

const kinds: { readonly [plural: string]: string } = {
  globalnetworksets: "GlobalNetworkSet",
  globalnetworkpolicies: "GlobalNetworkPolicy",
  ippools: "IPPool",
  bgppeers: "BGPPeer",
  caliconodestatuses: "CalicoNodeStatus",
};

function isOurs(key: string): boolean {
  return key.includes("walk-") || key.startsWith("/calico/v1/ipam/v4/pool/");
}

/** Of a resource that is passed on whole, the specification: its metadata has times and ids of the API server's. */
function essence(key: string, value: string): unknown {
  const parsed = JSON.parse(value) as { spec?: unknown }; // values are JSON
  return key.startsWith(resources) ? parsed.spec : parsed;
}

function networkSet(name: string, round: number) {
  const nets = [`10.66.${round % 256}.0/24`];
  return {
    spec: { nets },
    outcomes: [{ syncers: ["felix"], key: `/calico/v1/netset/${name}`, says: { nets, labels: null } }],
  } satisfies Told;
}

function policy(name: string, round: number) {
  const spec = { tier: "default", order: round, selector: `round == "${round}"` };
  const { tier: _, ...legacy } = spec;
  const modernKey = `/calico/v1/policy/GlobalNetworkPolicy//${name}`;
  const legacyKey = `/calico/v1/policy/tier/default/policy/${name}`;
  return {
    spec,
    outcomes: [
      { syncers: ["felix"], form: "modern", key: modernKey, says: spec },
      { syncers: ["felix"], form: "legacy", key: legacyKey, says: legacy },
    ],
  } satisfies Told;
}

function pool(round: number) {
  const natOutgoing = round % 2 === 0;
  const spec = {
    cidr: "10.65.0.0/16",
    blockSize: 26,
    nodeSelector: "all()",
    natOutgoing,
    ipipMode: "Never",
    vxlanMode: "Never",
  };
  const says = {
    cidr: "10.65.0.0/16",
    ipip: "",
    ipip_mode: "",
    vxlan_mode: "",
    masquerade: natOutgoing,
    ipam: true,
    disabled: false,
    disableBGPExport: false,
    assignment_mode: "Automatic",
  };
  return {
    spec,
    outcomes: [
      { syncers: ["felix", "bgp", "tunnel-ip-allocation"], key: "/calico/v1/ipam/v4/pool/10.65.0.0-16", says },
    ],
  } satisfies Told;
}

function peer(round: number) {
  const spec = { peerIP: "192.0.2.1", asNumber: 64_512 + round };
  return {
    spec,
    outcomes: [{ syncers: ["felix", "bgp"], key: `${resources}/bgppeers/walk-peer`, says: spec }],
  } satisfies Told;
}

function nodeStatus(round: number) {
  const spec = { node: "node-0", classes: ["Agent"], updatePeriodSeconds: 10 + round };
  return {
    spec,
    outcomes: [{ syncers: ["node-status"], key: `${resources}/caliconodestatuses/walk-status`, says: spec }],
  } satisfies Told;
}

type Told = { spec: object; outcomes: Outcome[] };
