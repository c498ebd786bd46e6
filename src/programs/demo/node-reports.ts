// What the demo's nodes say of themselves when the dashboard asks: they have no agents, so this answers for all of them. One has lost a BGP session and
// the one that never connects answers nobody, so that there is something to find; packets are counted as if the shop had customers.
import type { NodeReport, PolicyHit, RouteRow } from "../../calico/node-report/index.ts";
import { reportPaths } from "../../calico/node-report/index.ts";
import { blockCidr, nodeName, teams, tunnelAddress } from "./objects.ts";

export type DemoReportsOptions = {
  readonly nodes: number;
  /** Those with a number below this one run. */
  readonly running: number;
  readonly version: string;
  readonly nowMs: () => number;
};

/** The seventh node's session with the second route reflector. */
const troubled = 6;
const reflectors = ["172.20.255.1", "172.20.255.2"];

export class DemoReports {
  readonly #options: DemoReportsOptions;
  readonly #startedAtMs: number;

  constructor(options: DemoReportsOptions) {
    this.#options = options;
    this.#startedAtMs = options.nowMs();
  }

  readonly ask = async ({ node }: { readonly node: string }, path: string): Promise<string> => {
    const { nodes, running } = this.#options;
    const index = Number(node.replace(/^node-/, "")) - 1;
    if (!(index >= 0 && index < nodes)) throw new Error("there is no such node in the demo");
    if (index >= running)
      throw new Error("nothing listens there: its agent does not run, or does not report (FELIX_REPORTENABLED=true)");
    switch (path) {
      case reportPaths.node:
        return JSON.stringify(this.#report(index));
      case reportPaths.routes:
        return JSON.stringify(this.#routes(index));
      default:
        return JSON.stringify(this.#hits(index));
    }
  };

  #report(index: number): NodeReport {
    const { nodes, version } = this.#options;
    const isTroubled = index === troubled && nodes > 10;
    const since = new Date(this.#startedAtMs).toISOString().slice(11, 19);
    const parts = ["CalculationGraph", "InternalDataplaneMainLoop", "bird", "cni", "routes", "tunnel-addresses"];
    const lost = `BGP not established with ${reflectors[1]}`;
    return {
      node: nodeName(index),
      version: `cattail ${version}`,
      startedAtMs: this.#startedAtMs - (index + 1) * 3_600_000,
      live: true,
      ready: !isTroubled,
      components: parts.map((name) => {
        const isReady = !(isTroubled && name === "bird");
        return { name, isLive: true, isReady, detail: isReady ? "" : lost };
      }),
      bgp: [
        {
          ...{ family: 4, silent: "", version: "2.0.12", routerId: `172.20.0.${index + 1}` },
          bootTime: new Date(this.#startedAtMs - (index + 1) * 3_600_000).toISOString().slice(0, 19).replace("T", " "),
          reconfiguredTime: new Date(this.#startedAtMs).toISOString().slice(0, 19).replace("T", " "),
          sessions: reflectors.map((address, at) => ({
            ...{ address, kind: "Global", since },
            state: isTroubled && at === 1 ? "Active" : "Established",
          })),
        },
      ],
      routes: { right: nodes, wrong: 0, first: "" },
      audit: null,
    };
  }

  #routes(own: number): RouteRow[] {
    return Array.from({ length: this.#options.nodes }, (_, index) => {
      const via = `via ${tunnelAddress(index)}`;
      const isOwn = index === own;
      return {
        destination: blockCidr(index),
        node: nodeName(index),
        expected: isOwn ? "blackhole: a block of this node" : `${via}, in VXLAN`,
        actual: isOwn ? "blackhole" : `${via} dev vxlan.calico proto 80`,
        state: "right",
        why: "",
      };
    });
  }

  #hits(index: number): PolicyHit[] {
    const seconds = 600 + (this.#options.nowMs() - this.#startedAtMs) / 1000;
    const hit = (policy: string, rest: Partial<PolicyHit>, perSecond: number): PolicyHit => {
      const packets = Math.floor(seconds * perSecond * (1 + (index % 5) / 5));
      const plain = { rule: 1, direction: "ingress", action: "allow", reason: "" } as const;
      return { ...plain, policy, packets, bytes: packets * 640, ...rest };
    };
    return [
      hit("GlobalNetworkPolicy platform.allow-scrapes", {}, 2),
      hit("GlobalNetworkPolicy platform.allow-scrapes", { rule: 2, action: "pass" }, 40),
      hit("GlobalNetworkPolicy default.allow-dns", { direction: "egress" }, 9),
      hit("NetworkPolicy payments/default.ledger-from-api", {}, 5),
      ...teams.map(({ namespace }) => hit(`KubernetesNetworkPolicy ${namespace}/same-namespace`, {}, 25)),
      hit("", { rule: 0, action: "deny", reason: "end of tier default" }, 0.05),
    ];
  }
}
