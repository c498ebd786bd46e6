// A pretend cluster that lives: it fills a datastore with nodes, pods and policies, then keeps changing them the way a
// busy cluster does. Rolling updates replace pods one by one; now and then a policy or a label changes.

import type { Clock } from "../../base/lib/index.ts";
import type { Datastore, ObjectId, StoredObject } from "../../calico/datastore/index.ts";
import type { Kind } from "../../calico/kinds/index.ts";
import {
  block,
  blockCidr,
  calico,
  namespace,
  networkPolicy,
  node,
  nodeName,
  type PodPlace,
  pod,
  podsPerNode,
  service,
  serviceAccount,
  type Team,
  teams,
} from "./objects.ts";

export type PretendClusterSize = { readonly nodes: number; readonly pods: number };

export type PretendClusterOptions = PretendClusterSize & {
  readonly datastore: Datastore;
  /** Changes per second once it lives. */
  readonly churn: number;
  readonly clock: Clock;
  readonly random: () => number;
};

type RunningPod = { readonly team: Team; readonly app: string; readonly place: PodPlace; readonly id: ObjectId };

export class PretendCluster {
  readonly #options: PretendClusterOptions;
  readonly #pods: RunningPod[] = [];
  readonly #versions = new Map<string, number>();
  #serial = 0;

  constructor(options: PretendClusterOptions) {
    this.#options = options;
  }

  async populate(): Promise<void> {
    const { datastore, nodes } = this.#options;
    for (const [kind, value] of clusterObjects(nodes)) await datastore.create(kind, value);
    const pods = Math.min(this.#options.pods, nodes * podsPerNode);
    for (let index = 0; index < pods; index++) {
      const team = at(teams, index);
      const app = at(team.apps, Math.floor(index / teams.length));
      const place = { serial: this.#serial++, nodeIndex: index % nodes, slot: Math.floor(index / nodes) };
      await this.#start(team, app, place);
    }
    await this.#fillBlocks();
  }

  /** One of them holds an address for a pod that is no more, where there are enough nodes to look for it. */
  async #fillBlocks(): Promise<void> {
    const { datastore, nodes } = this.#options;
    const byNode = Map.groupBy(this.#pods, ({ place }) => place.nodeIndex);
    for (let index = 0; index < nodes; index++) {
      const held = (byNode.get(index) ?? []).map(({ id, place }) => ({ ...id, slot: place.slot }));
      const leaked = index === 3 && nodes > 10 ? [{ namespace: "shop", name: "web-0-gone", slot: 200 }] : [];
      await datastore.create("IPAMBlock", block(index, [...held, ...leaked]));
    }
  }

  /** Lives until the signal aborts. */
  async live(signal: AbortSignal): Promise<void> {
    const { churn, clock } = this.#options;
    if (churn <= 0) return;
    while (!signal.aborted) {
      // Busy clusters change in bursts, so twenty changes a second are not one every 50 ms.
      const burst = Math.max(1, Math.round(churn / 10));
      for (let index = 0; index < burst && !signal.aborted; index++) await this.#change();
      await clock.sleep((1000 * burst) / churn, signal).catch(() => undefined);
    }
  }

  async #change(): Promise<void> {
    const dice = this.#options.random();
    if (dice < 0.02) await this.#touchPolicy();
    else if (dice < 0.05) await this.#relabelNode();
    else await this.#replacePod();
  }

  // One step of a rolling update: the oldest pod goes, one of the next version takes its place.
  async #replacePod(): Promise<void> {
    const old = this.#pods.shift();
    if (old === undefined) return;
    await this.#options.datastore.delete("Pod", old.id);
    const name = `${old.team.namespace}/${old.app}`;
    if (this.#options.random() < 0.01) this.#versions.set(name, (this.#versions.get(name) ?? 1) + 1);
    await this.#start(old.team, old.app, { ...old.place, serial: this.#serial++ });
  }

  async #start(team: Team, app: string, place: PodPlace): Promise<void> {
    const version = this.#versions.get(`${team.namespace}/${app}`) ?? 1;
    const { id } = await this.#options.datastore.create("Pod", pod(team, app, version, place));
    this.#pods.push({ team, app, place, id });
  }

  async #relabelNode(): Promise<void> {
    const name = nodeName(Math.floor(this.#options.random() * this.#options.nodes));
    await this.#edit("Node", { namespace: "", name }, (object) => {
      object.metadata.labels["demo.cattail/drained"] = String(this.#options.random() < 0.5);
    });
  }

  async #touchPolicy(): Promise<void> {
    const order = 100 + Math.floor(this.#options.random() * 100);
    await this.#edit("GlobalNetworkPolicy", { namespace: "", name: "default.allow-dns" }, (object) => {
      object.spec.order = order;
    });
  }

  async #edit(kind: Kind, id: ObjectId, change: (object: Editable) => void): Promise<void> {
    const stored = await this.#options.datastore.get(kind, id);
    if (stored === undefined) return;
    const value = structuredClone(stored.value) as Editable; // the demo wrote this object itself
    change(value);
    await this.#options.datastore.update(kind, { ...stored, value } satisfies StoredObject);
  }
}

type Editable = { metadata: { labels: { [name: string]: string } }; spec: { [name: string]: unknown } };

function clusterObjects(nodes: number): [Kind, object][] {
  const objects: [Kind, object][] = [
    [
      "ClusterInformation",
      calico("ClusterInformation", "default", {
        clusterGUID: "cafe0000cafe0000cafe0000cafe0000",
        clusterType: "demo,typha,kdd",
        datastoreReady: true,
      }),
    ],
    ["FelixConfiguration", calico("FelixConfiguration", "default", { logSeverityScreen: "Info", bpfLogLevel: "" })],
    ["BGPConfiguration", calico("BGPConfiguration", "default", { nodeToNodeMeshEnabled: true, asNumber: 64512 })],
    [
      "IPPool",
      calico("IPPool", "default-pool", { cidr: "10.64.0.0/10", blockSize: 24, vxlanMode: "Always", natOutgoing: true }),
    ],
    ["Tier", calico("Tier", "default", { order: 1_000_000, defaultAction: "Deny" })],
    ["Tier", calico("Tier", "platform", { order: 100, defaultAction: "Pass" })],
    ...policies(),
  ];
  let serial = 0;
  teams.forEach((team, index) => {
    objects.push(["Namespace", namespace(team, index)]);
    objects.push(["KubernetesNetworkPolicy", networkPolicy(team, "same-namespace", sameNamespace)]);
    for (const app of team.apps) {
      objects.push(["ServiceAccount", serviceAccount(team, app, serial)]);
      objects.push(["Service", service(team, app, serial++)]);
    }
  });
  for (let index = 0; index < nodes; index++) {
    const name = nodeName(index);
    const affinity = { state: "confirmed", node: name, cidr: blockCidr(index), deleted: "false" };
    objects.push(["Node", node(index)]);
    objects.push(["BlockAffinity", calico("BlockAffinity", `${name}-block`, affinity)]);
    if (index < 3) {
      const status = { node: name, classes: ["Agent", "BGP"], updatePeriodSeconds: 10 };
      objects.push(["CalicoNodeStatus", calico("CalicoNodeStatus", name, status)]);
    }
  }
  return objects;
}

const sameNamespace = { podSelector: {}, policyTypes: ["Ingress"], ingress: [{ from: [{ podSelector: {} }] }] };

function policies(): [Kind, object][] {
  const dns = { action: "Allow", protocol: "UDP", destination: { ports: [53] } };
  const scrape = { action: "Allow", protocol: "TCP", source: { namespaceSelector: "team == 'monitoring'" } };
  return [
    [
      "GlobalNetworkPolicy",
      calico("GlobalNetworkPolicy", "default.allow-dns", {
        order: 100,
        selector: "all()",
        types: ["Egress"],
        egress: [dns],
      }),
    ],
    [
      "GlobalNetworkPolicy",
      calico("GlobalNetworkPolicy", "platform.allow-scrapes", {
        tier: "platform",
        order: 10,
        selector: "has(app)",
        types: ["Ingress"],
        ingress: [scrape, { action: "Pass" }],
      }),
    ],
    [
      "NetworkPolicy",
      calico(
        "NetworkPolicy",
        "default.ledger-from-api",
        {
          order: 50,
          selector: "app == 'ledger'",
          types: ["Ingress"],
          ingress: [{ action: "Allow", source: { selector: "app == 'api'" } }],
        },
        "payments",
      ),
    ],
    ["GlobalNetworkSet", calico("GlobalNetworkSet", "partners", { nets: ["198.51.100.0/24", "203.0.113.7/32"] })],
  ];
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new Error("an empty list has no items to choose from");
  return item;
}
