// Which pools a request may use, and in which order. A request that names pools gets exactly these; otherwise the pools choose
// by their selectors. The sentences are the original's: they reach users through the CNI plugin.

import { type AddressRange, type Family, holds, parseRange, rangeText } from "../../base/lib/index.ts";
import { evaluateSelector, type Labels, parseSelector } from "../model/index.ts";
import { defaultBlockSize } from "./block-order.ts";

export type Use = "Workload" | "Tunnel" | "LoadBalancer";

export type Pool = {
  readonly name: string;
  readonly range: AddressRange;
  readonly blockSize: number;
  /** Neither disabled nor reported as not allocatable. */
  readonly isEnabled: boolean;
  readonly nodeSelector: string;
  readonly namespaceSelector: string;
  readonly allowedUses: readonly string[];
  readonly isAutomatic: boolean;
};

/** What is read of an IPPool, as the kind's schema has it. */
export type PoolObject = {
  readonly name: string;
  readonly spec: {
    readonly cidr?: string | undefined;
    readonly blockSize?: number | bigint | undefined;
    readonly disabled?: boolean | undefined;
    readonly nodeSelector?: string | undefined;
    readonly namespaceSelector?: string | undefined;
    readonly allowedUses?: readonly string[] | undefined;
    readonly assignmentMode?: string | undefined;
  };
  readonly conditions?:
    | readonly { readonly type?: string | undefined; readonly status?: string | undefined }[]
    | undefined;
};

/** Undefined: its CIDR is none. Such a pool is as good as absent. */
export function readPool({ name, spec, conditions = [] }: PoolObject): Pool | undefined {
  const range = parseRange(spec.cidr ?? "");
  if (range === undefined) return undefined;
  const isRefused = conditions.some(({ type, status }) => type === "Allocatable" && status === "False");
  return {
    name,
    range,
    blockSize: Number(spec.blockSize ?? 0) || defaultBlockSize(range.family),
    isEnabled: spec.disabled !== true && !isRefused,
    nodeSelector: spec.nodeSelector ?? "",
    namespaceSelector: spec.namespaceSelector ?? "",
    allowedUses: spec.allowedUses?.length ? spec.allowedUses : ["Workload", "Tunnel"],
    isAutomatic: (spec.assignmentMode || "Automatic") === "Automatic",
  };
}

export type PoolRequest = {
  readonly family: Family;
  readonly use: Use;
  readonly node: string;
  readonly nodeLabels: Labels;
  readonly namespaceLabels: Labels;
  /** By CIDR or by name; empty: whatever fits. */
  readonly requested: readonly string[];
};

export type Refusal = {
  readonly is: "refused";
  readonly reason:
    | "no-pool"
    | "unknown-pool"
    | "wrong-family"
    | "no-pool-for-node"
    | "no-pool-for-use"
    | "bad-selector";
  readonly says: string;
};
export type ChosenPools = { readonly is: "pools"; readonly pools: readonly Pool[] } | Refusal;

export function choosePools(all: readonly Pool[], request: PoolRequest): ChosenPools {
  const named = namedRanges(all, request);
  if (named.is === "refused") return named;
  const enabled = inOrder(all).filter(({ isEnabled, range }) => isEnabled && range.family === request.family);
  if (enabled.length === 0) return refused("no-pool", "cannot find a qualified ippool");
  const fitting = named.ranges.length > 0 ? requestedPools(enabled, named.ranges) : selectedPools(enabled, request);
  if (fitting.is === "refused") return fitting;
  const pools = fitting.pools.filter(({ allowedUses }) => allowedUses.includes(request.use));
  if (pools.length > 0) return { is: "pools", pools };
  const says = `cannot find a qualified ippool, no pools match the required use (${request.use})`;
  return refused("no-pool-for-use", says);
}

/** The enabled pool, or with "any" also a disabled one, that an address or block is in. Pools do not overlap. */
export function poolOf(all: readonly Pool[], range: AddressRange, which: "enabled" | "any"): Pool | undefined {
  return all.find((pool) => (which === "any" || pool.isEnabled) && holds(pool.range, range));
}

/** An empty selector selects all; one that cannot be read selects nothing. */
export function selects(selector: string, labels: Labels): boolean {
  const parsed = parseSelector(selector);
  return parsed.is === "selector" && evaluateSelector(parsed.selector, labels);
}

/** Whether labels matter to the selector: "" and all() select whoever asks. */
export function selectsByLabels(selector: string): boolean {
  return !["", "all()"].includes(selector.trim());
}

function selectedPools(enabled: readonly Pool[], request: PoolRequest): ChosenPools {
  for (const { name, nodeSelector, namespaceSelector } of enabled) {
    for (const selector of [nodeSelector, namespaceSelector]) {
      const parsed = parseSelector(selector);
      if (parsed.is === "error")
        return refused("bad-selector", `selector "${selector}" of pool ${name}: ${parsed.why}`);
    }
  }
  const pools = enabled.filter(
    ({ isAutomatic, nodeSelector, namespaceSelector }) =>
      isAutomatic && selects(nodeSelector, request.nodeLabels) && selects(namespaceSelector, request.namespaceLabels),
  );
  if (pools.length > 0) return { is: "pools", pools };
  return refused("no-pool-for-node", `no configured Calico pools for node ${request.node}`);
}

/** Selectors and assignment mode do not count: who names a pool means it. */
function requestedPools(enabled: readonly Pool[], ranges: readonly string[]): ChosenPools {
  const pools: Pool[] = [];
  for (const text of ranges) {
    const pool = enabled.find(({ range }) => rangeText(range) === text);
    if (pool === undefined) {
      return refused("unknown-pool", `the given pool (${text}) does not exist, or is not enabled`);
    }
    pools.push(pool);
  }
  return { is: "pools", pools };
}

/** What the request calls pools, whether they are there or not; refused where it is no network of the family. */
export function namedRanges(
  all: readonly Pool[],
  { requested, family }: Pick<PoolRequest, "requested" | "family">,
): { readonly is: "ranges"; readonly ranges: readonly string[] } | Refusal {
  const ranges: string[] = [];
  for (const text of requested) {
    // A name may not hold a slash, so nothing is both.
    const range = text.includes("/") ? parseRange(text) : all.find(({ name }) => name === text)?.range;
    if (range === undefined)
      return refused("unknown-pool", `error parsing pool "${text}": invalid CIDR address: ${text}`);
    const [address] = rangeText(range).split("/");
    if (range.family !== family) return refused("wrong-family", `"${address}" isn't a IPv${family} address`);
    ranges.push(rangeText(range));
  }
  return { is: "ranges", ranges };
}

/** As a datastore lists them: by name, in the order of bytes. */
function inOrder(pools: readonly Pool[]): readonly Pool[] {
  return [...pools].sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
}

function refused(reason: Refusal["reason"], says: string): Refusal {
  return { is: "refused", reason, says };
}
