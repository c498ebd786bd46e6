// The datastore's settings, picked from the felix data set: those of the cluster and of this node as they come, one key for each; those of
// a FelixConfiguration that selects nodes by label as a whole, of which the oldest that fits counts.
import { isRecord, type Log, messageOf, parseJson } from "../../base/lib/index.ts";
import { pathToKey } from "../../calico/model/basics.ts";
import type { FeedConsumer, FeedState } from "../part/index.ts";
import type { Source, Sources } from "./resolve.ts";

const clusterPrefix = "/calico/v1/config/";

type Selecting = {
  readonly name: string;
  readonly selector: string;
  readonly created: string;
  readonly object: unknown;
};

export type DatastoreSourceOptions = {
  readonly node: string;
  readonly log: Log;
  /** Told when it is in sync, and after each batch in which something of it changed. */
  readonly apply: (sources: Pick<Sources, "node" | "selector" | "cluster">) => void;
};

export class DatastoreSource implements FeedConsumer {
  readonly #options: DatastoreSourceOptions;
  readonly #cluster = new Map<string, string>();
  readonly #node = new Map<string, string>();
  readonly #selecting = new Map<string, Selecting>();
  #labels: { readonly [name: string]: string } | undefined;
  #isChanged = true;
  #round = 0;

  constructor(options: DatastoreSourceOptions) {
    this.#options = options;
  }

  set(path: string, value: string): void {
    this.#take(path, value);
  }

  delete(path: string): void {
    this.#take(path, undefined);
  }

  settled({ inSync }: FeedState): void {
    if (!inSync || !this.#isChanged) return;
    this.#isChanged = false;
    const round = ++this.#round;
    const own = { cluster: Object.fromEntries(this.#cluster), node: Object.fromEntries(this.#node) };
    if (this.#selecting.size === 0) {
      this.#options.apply(own);
      return;
    }
    // Rare, and it needs the schemas, which nobody else on a node loads.
    void this.#selected().then(
      (selector) => round === this.#round && this.#options.apply({ ...own, selector }),
      (error: unknown) =>
        this.#options.log.error("FelixConfigurations with a nodeSelector not read", { problem: messageOf(error) }),
    );
  }

  #take(path: string, value: string | undefined): void {
    // Most keys of the data set are others': not one of them is parsed.
    if (path.startsWith(clusterPrefix)) this.#put(this.#cluster, path.slice(clusterPrefix.length), value);
    if (!path.startsWith("/calico/v1/host/") && !path.startsWith("/calico/resources/")) return;
    const key = pathToKey(path);
    if (key?.is === "HostConfig" && key.hostname === this.#options.node) this.#put(this.#node, key.name, value);
    if (key?.is !== "Resource") return;
    if (key.kind === "FelixConfiguration") this.#takeSelecting(key.name, value);
    if (key.kind === "Node" && key.name === this.#options.node) this.#takeLabels(value);
  }

  #put(into: Map<string, string>, name: string, value: string | undefined): void {
    if (into.get(name) === value) return;
    this.#isChanged = true;
    if (value === undefined) into.delete(name);
    else into.set(name, value);
  }

  #takeSelecting(name: string, value: string | undefined): void {
    this.#isChanged = true;
    this.#selecting.delete(name);
    const object = value === undefined ? undefined : parseJson(value);
    if (!isRecord(object) || !isRecord(object.spec)) return;
    const { nodeSelector: selector } = object.spec;
    const created = isRecord(object.metadata) ? String(object.metadata.creationTimestamp ?? "") : "";
    if (typeof selector === "string" && selector !== "") this.#selecting.set(name, { name, selector, created, object });
  }

  #takeLabels(value: string | undefined): void {
    const node = value === undefined ? undefined : parseJson(value);
    const metadata = isRecord(node) && isRecord(node.metadata) ? node.metadata : {};
    const labels = isRecord(metadata.labels) ? metadata.labels : {};
    const texts = Object.entries(labels).map(([name, text]) => [name, String(text)]);
    const next = node === undefined ? undefined : Object.fromEntries(texts);
    if (JSON.stringify(next) === JSON.stringify(this.#labels)) return;
    this.#labels = next;
    if (this.#selecting.size > 0) this.#isChanged = true;
  }

  async #selected(): Promise<Source> {
    const [{ parseSelector, evaluateSelector }, { createFelixConfigurationProcessor }] = await Promise.all([
      import("../../calico/model/index.ts"),
      import("../../calico/convert/index.ts"),
    ]);
    const labels = this.#labels;
    if (labels === undefined) return {};
    const fitting = [...this.#selecting.values()]
      .filter(({ name, selector }) => {
        const parsed = parseSelector(selector);
        if (parsed.is === "error")
          this.#options.log.warn("FelixConfiguration has a nodeSelector that cannot be read", {
            name,
            problem: parsed.why,
          });
        return parsed.is === "selector" && evaluateSelector(parsed.selector, labels);
      })
      .sort((a, b) => compare(a.created, b.created) || compare(a.name, b.name));
    const [winner, ...others] = fitting;
    if (winner === undefined) return {};
    if (others.length > 0)
      this.#options.log.warn("Several FelixConfigurations select this node; the oldest counts", {
        counts: winner.name,
        besides: others.map(({ name }) => name).join(", "),
      });
    const { kvs } = createFelixConfigurationProcessor().set({ namespace: "", name: "default" }, "", winner.object);
    const set = kvs.flatMap(({ path, value }) => {
      const key = pathToKey(path);
      return key?.is === "GlobalConfig" && value !== undefined ? [[key.name, value]] : [];
    });
    return Object.fromEntries(set);
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
