// The cluster as BGP sees it: the global numbers, each node's own, and who matches a selector. A view over the objects, made anew for each
// computation.
import type { BgpConfigurationSpec } from "../../../calico/kinds/index.ts";
import { evaluateSelector, parseSelector } from "../../../calico/model/index.ts";
import type { BgpNode, BgpObjects } from "./objects.ts";

/** Of a cluster whose BGPConfiguration says nothing. */
const defaultAsNumber = 64512;

export class BgpCluster {
  readonly objects: BgpObjects;
  readonly global: BgpConfigurationSpec;
  readonly asNumber: number;
  /** By name, so that the same objects always give the same sessions. */
  readonly nodes: readonly BgpNode[];
  readonly #byAddress = new Map<string, BgpNode[]>();
  readonly #matching = new Map<string, readonly BgpNode[]>();

  constructor(objects: BgpObjects) {
    this.objects = objects;
    this.global = objects.configurations.get("default")?.spec ?? {};
    this.asNumber = this.global.asNumber ?? defaultAsNumber;
    this.nodes = [...objects.nodes.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const node of this.nodes) {
      for (const address of [node.address[4], node.address[6]]) {
        if (address === undefined) continue;
        const there = this.#byAddress.get(address);
        if (there === undefined) this.#byAddress.set(address, [node]);
        else there.push(node);
      }
    }
  }

  ofNode(name: string): BgpConfigurationSpec {
    return this.objects.configurations.get(`node.${name}`)?.spec ?? {};
  }

  asNumberOf(node: BgpNode): number {
    return node.asNumber ?? this.asNumber;
  }

  /** Undefined: nothing is set, so 179. */
  listenPortOf(name: string): number | undefined {
    return this.ofNode(name).listenPort || this.global.listenPort || undefined;
  }

  withAddress(address: string): readonly BgpNode[] {
    return this.#byAddress.get(address) ?? [];
  }

  /** A selector that cannot be read matches nobody. */
  matching(selector: string): readonly BgpNode[] {
    const known = this.#matching.get(selector);
    if (known !== undefined) return known;
    const parsed = parseSelector(selector);
    const found =
      parsed.is === "error" ? [] : this.nodes.filter(({ labels }) => evaluateSelector(parsed.selector, labels));
    this.#matching.set(selector, found);
    return found;
  }
}
