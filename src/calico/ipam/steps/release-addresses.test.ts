// Single addresses given back, and named ones fought for.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { IpamStore } from "../../../../test/kit/ipam-store.ts";
import { type AddressRange, parseRange, rangeText } from "../../../base/lib/index.ts";
import { newBlock } from "../block-changes.ts";
import { type Pool, readPool } from "../pools.ts";
import { assignAddress, type NamedRequest } from "./assign-named.ts";
import { releaseIps } from "./release-addresses.ts";

const pool = (disabled: boolean): Pool[] =>
  [{ name: "a", spec: { cidr: "10.9.0.0/28", blockSize: 30, disabled } }].flatMap((each) => readPool(each) ?? []);

function range(text: string): AddressRange {
  const found = parseRange(text);
  if (found === undefined) throw new Error(`${text} is no range`);
  return found;
}

function named(address: string, handle: string, node = "n1", strictAffinity = false): NamedRequest {
  return {
    address: range(address),
    owner: { type: "host", name: node },
    use: "Workload",
    handle,
    secondary: { node },
    pools: pool(false),
    settings: { strictAffinity, cooldownSeconds: 0 },
  };
}

/** 10.9.0.1 and 10.9.0.5 are a's, 10.9.0.2 is b's. */
function store(): IpamStore {
  const made = new IpamStore();
  for (const [address, handle] of [
    ["10.9.0.1", "a"],
    ["10.9.0.2", "b"],
    ["10.9.0.5", "a"],
  ] as const) {
    equal(made.run(assignAddress(named(address, handle))).is, "assigned");
  }
  return made;
}

function handlesOf(made: IpamStore): string[] {
  const handles = made.objects().flatMap((object) => (object.kind === "handle" ? [object.value] : []));
  return handles.map(({ id, blocks }) => `${id} ${[...blocks].flat().join(" ")}`).sort();
}

const all = ["a 10.9.0.0/30 1 10.9.0.4/30 1", "b 10.9.0.0/30 1"];
type Asked = { address: string; handle?: string };
const cases: {
  name: string;
  asks: Asked[];
  pools: Pool[];
  released: string[];
  free?: string[];
  conflicts?: string[];
  handles: string[];
}[] = [
  {
    name: "in two blocks at once",
    asks: [{ address: "10.9.0.1" }, { address: "10.9.0.5" }],
    pools: pool(false),
    released: ["10.9.0.1/32", "10.9.0.5/32"],
    handles: ["b 10.9.0.0/30 1"],
  },
  {
    name: "of a disabled pool",
    asks: [{ address: "10.9.0.2" }],
    pools: pool(true),
    released: ["10.9.0.2/32"],
    handles: all.slice(0, 1),
  },
  {
    name: "of a pool that is gone",
    asks: [{ address: "10.9.0.2" }],
    pools: [],
    released: ["10.9.0.2/32"],
    handles: all.slice(0, 1),
  },
  {
    name: "what nobody holds",
    asks: [{ address: "10.9.0.3" }, { address: "10.9.0.9" }, { address: "10.99.0.1" }],
    pools: pool(false),
    released: [],
    free: ["10.99.0.1/32", "10.9.0.3/32", "10.9.0.9/32"],
    handles: all,
  },
  {
    name: "one wrong handle keeps its block's addresses, and no other's",
    asks: [
      { address: "10.9.0.1", handle: "a" },
      { address: "10.9.0.2", handle: "x" },
      { address: "10.9.0.5", handle: "a" },
    ],
    pools: pool(false),
    released: ["10.9.0.5/32"],
    conflicts: ["10.9.0.0/30: the given handle (x) does not match (b) when attempting to release IP"],
    handles: ["a 10.9.0.0/30 1", "b 10.9.0.0/30 1"],
  },
];
for (const { name, asks, pools, released, free = [], conflicts = [], handles } of cases) {
  test(`giving addresses back: ${name}`, () => {
    const made = store();
    const requests = asks.map(({ address, ...rest }) => ({ address: range(address), ...rest }));
    const done = made.run(releaseIps(requests, { pools, cooldownSeconds: 0 }));
    deepEqual(done.released.map(rangeText), released);
    deepEqual(done.notAllocated.map(rangeText), free);
    deepEqual(
      done.conflicts.map(({ cidr, says }) => `${cidr}: ${says}`),
      conflicts,
    );
    deepEqual(handlesOf(made), handles);
  });
}

const races: { name: string; strict: boolean; gets: string }[] = [
  { name: "its block is borrowed from", strict: false, gets: "assigned" },
  { name: "with strict affinity that is said", strict: true, gets: "Block host affinity does not match" },
];
for (const { name, strict, gets } of races) {
  test(`another node wins the block of a named address: ${name}`, () => {
    const made = new IpamStore();
    const block = newBlock({ range: range("10.9.0.0/30"), owner: "host:n2", nowNs: 5n });
    const done = made.run(assignAddress(named("10.9.0.1", "a", "n1", strict)), (step) => {
      if (step.do === "create" && step.object.kind === "block") made.put({ kind: "block", value: block });
      return undefined;
    });
    equal(done.is === "refused" ? done.says : done.is, gets);
    deepEqual(handlesOf(made), strict ? [] : ["a 10.9.0.0/30 1"]);
  });
}
