// The audit on small datastores: one that is sound, and beside it one row for each thing that can be wrong.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { parseRange } from "../../../base/lib/index.ts";
import type { Affinity, AffinityState } from "../affinity.ts";
import type { Attribute, Block } from "../block.ts";
import { newBlock } from "../block-changes.ts";
import type { Handle } from "../handle.ts";
import { readPool } from "../pools.ts";
import type { Versioned } from "../steps/step.ts";
import { attributeText } from "./allocations.ts";
import { audit } from "./audit.ts";
import { blockFaults, repaired } from "./check-blocks.ts";
import { type FindingCode, findingCodes } from "./finding.ts";
import { type Audited, readLoosely } from "./stored.ts";
import { type AddressUse, userText, usesOfNode, usesOfService, usesOfWorkload } from "./uses.ts";

const nowNs = 1_794_824_392_000_000_000n;
const pools = [{ name: "p", spec: { cidr: "10.65.0.0/16", blockSize: 30 } }].flatMap((pool) => readPool(pool) ?? []);

function versioned<T>(value: T, revision = "1"): Versioned<T> {
  return { value, revision };
}

const podOf = (pod: string): Attribute => ({
  handle_id: `k8s.${pod}`,
  secondary: { node: "n1", namespace: "default", pod },
});

/** The block 10.65.1.0/30 of n1, in which these ordinals are held. */
function block(holders: { readonly [ordinal: number]: Attribute }, change: Partial<Block> = {}): Versioned<Block> {
  const range = parseRange("10.65.1.0/30");
  ok(range !== undefined);
  const empty = newBlock({ range, owner: "host:n1", nowNs });
  const held = Object.entries(holders).map(([ordinal, attribute], index) => ({
    at: Number(ordinal),
    attribute,
    index,
  }));
  return versioned({
    ...empty,
    allocations: empty.allocations.map((_, at) => held.find((each) => each.at === at)?.index ?? null),
    unallocated: empty.unallocated.filter((at) => !held.some((each) => each.at === at)),
    attributes: held.map(({ attribute }) => attribute),
    sequenceNumbers: new Map(held.map(({ at }) => [at, nowNs])),
    ...change,
  });
}

function affinity(node: string, state: AffinityState = "confirmed", change: Partial<Affinity> = {}) {
  return versioned<Affinity>({
    owner: { type: "host", name: node },
    cidr: "10.65.1.0/30",
    state,
    isDeleted: false,
    ...change,
  });
}

function handle(id: string, blocks: { readonly [cidr: string]: number }, isDeleted = false): Versioned<Handle> {
  return versioned({ id, blocks: new Map(Object.entries(blocks)), isDeleted });
}

function used(address: string, pod: string): AddressUse {
  return { address, user: { is: "workload", namespace: "default", name: `n1-k8s-${pod}-eth0`, node: "n1", pod } };
}

const sound: Audited = {
  blocks: [block({ 1: podOf("a") })],
  unreadable: [],
  affinities: [affinity("n1")],
  handles: [handle("k8s.a", { "10.65.1.0/30": 1 })],
  pools,
  uses: [used("10.65.1.1", "a")],
  starting: [],
  nodes: ["n1", "n2"],
  nowNs,
};

const { value: soundBlock } = block({ 1: podOf("a") });

const cases: { readonly name: string; readonly change: Partial<Audited>; readonly found: readonly FindingCode[] }[] = [
  { name: "a sound datastore has nothing", change: {}, found: [] },
  {
    name: "what is no block at all",
    change: { unreadable: [{ kind: "IPAMBlock", name: "x", why: "no CIDR" }] },
    found: ["BLOCK_UNREADABLE"],
  },
  {
    name: "an ordinal that is neither allocated nor free",
    change: { blocks: [versioned({ ...soundBlock, unallocated: [0, 2] })] },
    found: ["BLOCK_BROKEN"],
  },
  {
    name: "an ordinal that is both",
    change: { blocks: [versioned({ ...soundBlock, unallocated: [0, 1, 2, 3] })] },
    found: ["BLOCK_BROKEN"],
  },
  {
    name: "an ordinal that is free twice",
    change: { blocks: [versioned({ ...soundBlock, unallocated: [0, 2, 3, 3] })] },
    found: ["BLOCK_BROKEN"],
  },
  {
    name: "an ordinal of another block",
    change: { blocks: [versioned({ ...soundBlock, unallocated: [0, 2, 3, 9] })] },
    found: ["BLOCK_BROKEN"],
  },
  {
    name: "a sequence number of a free ordinal",
    change: {
      blocks: [
        versioned({
          ...soundBlock,
          sequenceNumbers: new Map([
            [1, 1n],
            [2, 1n],
          ]),
        }),
      ],
    },
    found: ["BLOCK_BROKEN"],
  },
  {
    name: "no sequence number of an allocated ordinal",
    change: { blocks: [versioned({ ...soundBlock, sequenceNumbers: new Map() })] },
    found: ["BLOCK_BROKEN"],
  },
  {
    name: "an attribute that nobody points to",
    change: { blocks: [versioned({ ...soundBlock, attributes: [podOf("a"), podOf("b")] })] },
    found: ["BLOCK_BROKEN"],
  },
  {
    name: "an allocation that points nowhere",
    change: { blocks: [versioned({ ...soundBlock, attributes: [] })] },
    found: ["BLOCK_BROKEN", "HANDLE_COUNTS_TOO_MUCH"],
  },
  {
    name: "too few allocations",
    change: { blocks: [versioned({ ...soundBlock, allocations: [null, 0] })] },
    found: ["BLOCK_BROKEN"],
  },
  {
    name: "two blocks in each other's way",
    change: {
      blocks: [
        ...sound.blocks,
        versioned({
          ...block({}).value,
          range: { ...soundBlock.range, prefixLength: 31 },
          allocations: [null, null],
          unallocated: [0, 1],
          owner: undefined,
        }),
      ],
    },
    found: ["BLOCKS_OVERLAP"],
  },
  {
    name: "a block in no pool",
    change: { pools: [] },
    found: ["BLOCK_OUTSIDE_POOLS"],
  },
  {
    name: "marks of deletion",
    change: {
      blocks: [
        ...sound.blocks,
        versioned({
          ...block({}).value,
          range: { ...soundBlock.range, first: soundBlock.range.first + 4n },
          isDeleted: true,
        }),
      ],
      affinities: [...sound.affinities, affinity("n2", "confirmed", { isDeleted: true })],
      handles: [...sound.handles, handle("k8s.x", {}, true)],
    },
    found: ["DELETION_UNFINISHED", "DELETION_UNFINISHED", "DELETION_UNFINISHED"],
  },
  { name: "a handle that does not exist", change: { handles: [] }, found: ["HANDLE_MISSING"] },
  { name: "a handle that counts too little", change: { handles: [handle("k8s.a", {})] }, found: ["HANDLE_MISSING"] },
  {
    name: "a handle that counts too much",
    change: { handles: [handle("k8s.a", { "10.65.1.0/30": 2 })] },
    found: ["HANDLE_COUNTS_TOO_MUCH"],
  },
  {
    name: "a handle of a block that is gone",
    change: { handles: [...sound.handles, handle("k8s.b", { "10.65.9.0/30": 1 })] },
    found: ["HANDLE_COUNTS_TOO_MUCH"],
  },
  {
    name: "a handle that counts nothing",
    change: { handles: [...sound.handles, handle("k8s.b", {})] },
    found: ["HANDLE_COUNTS_TOO_MUCH"],
  },
  { name: "an owner without an affinity", change: { affinities: [] }, found: ["CLAIM_UNFINISHED"] },
  { name: "a claim half made", change: { affinities: [affinity("n1", "pending")] }, found: ["CLAIM_UNFINISHED"] },
  {
    name: "a claim half given back",
    change: { affinities: [affinity("n1", "pendingDeletion")] },
    found: ["CLAIM_UNFINISHED"],
  },
  {
    name: "an affinity without its block",
    change: { affinities: [...sound.affinities, affinity("n2", "confirmed", { cidr: "10.65.2.0/30" })] },
    found: ["AFFINITY_WITHOUT_BLOCK"],
  },
  {
    name: "a second affinity to a block",
    change: { affinities: [...sound.affinities, affinity("n2")] },
    found: ["AFFINITY_STALE"],
  },
  { name: "a block of a node that is gone", change: { nodes: ["n2"] }, found: ["NODE_GONE"] },
  { name: "an address that nobody uses", change: { uses: [] }, found: ["ADDRESS_LEAKED"] },
  {
    name: "a pod that has not said its address yet",
    change: { uses: [], starting: [{ namespace: "default", pod: "a" }] },
    found: [],
  },
  {
    name: "the pod exists and has another address",
    change: { uses: [used("10.65.1.2", "a")] },
    found: ["ADDRESS_LEAKED", "ADDRESS_NOT_ALLOCATED"],
  },
  {
    name: "an address of nobody known",
    change: { uses: [], blocks: [block({ 1: { handle_id: "k8s.a" } })] },
    found: ["ADDRESS_UNKNOWN_HOLDER"],
  },
  {
    name: "addresses that Windows keeps, that wait, or that a virtual machine holds",
    change: {
      blocks: [
        block({
          0: { handle_id: "windows-reserved-ipam-handle" },
          1: podOf("a"),
          2: { releasedAt: "2026-11-16T10:00:00Z" },
          3: { handle_id: "net.vmi.default.vm" },
        }),
      ],
      handles: [...sound.handles, handle("net.vmi.default.vm", { "10.65.1.0/30": 1 })],
    },
    found: [],
  },
  {
    name: "one address of two pods",
    change: { uses: [used("10.65.1.1", "a"), used("10.65.1.1", "b")] },
    found: ["ADDRESS_TWICE"],
  },
  { name: "an address that another uses", change: { uses: [used("10.65.1.1", "b")] }, found: ["ADDRESS_OF_ANOTHER"] },
  {
    name: "an address in use that is not allocated",
    change: { uses: [...sound.uses, used("10.65.1.3", "c")] },
    found: ["ADDRESS_NOT_ALLOCATED"],
  },
  {
    name: "an address in use outside all pools",
    change: { uses: [...sound.uses, used("192.168.1.1", "c")] },
    found: ["ADDRESS_OUTSIDE_POOLS"],
  },
];

for (const { name, change, found } of cases) {
  test(`audit: ${name}`, () => {
    const { findings } = audit({ ...sound, ...change });
    deepEqual(findings.map(({ code }) => code).sort(), [...found].sort());
    for (const { says, command, code, mend } of findings) {
      ok(says.length > 10 && command.length > 5, `${code} says nothing`);
      if (mend !== undefined) ok(command.includes("--fix"), `${code} is mended, and nobody says how`);
    }
  });
}

test("every code of the table is found by a case", () => {
  const found = new Set(cases.flatMap((each) => each.found));
  deepEqual(
    Object.keys(findingCodes).filter((code) => !found.has(code as FindingCode)),
    [],
  ); // keys of the table
});

test("the datastore of the original's recorded check: what it counts and prints", () => {
  const of = (pod: string): Attribute => ({
    handle_id: `k8s.${pod}`,
    secondary: { node: "n1", namespace: "default", pod },
  });
  const tunnel: Attribute = { handle_id: "vxlan-n1", secondary: { node: "n1", type: "vxlanTunnelAddress" } };
  const report = audit({
    ...sound,
    blocks: [block({ 0: tunnel, 1: of("a"), 2: of("gone") })],
    handles: [
      handle("vxlan-n1", { "10.65.1.0/30": 1 }),
      handle("k8s.a", { "10.65.1.0/30": 1 }),
      handle("k8s.idle", { "10.65.1.0/30": 1 }),
    ],
    uses: [
      ...usesOfNode({ metadata: { name: "n1" }, spec: { ipv4VXLANTunnelAddr: "10.65.1.0" } }),
      used("10.65.1.1", "a"),
      used("192.168.1.1", "far"),
      used("10.65.1.40", "stray"),
    ],
  });
  const { addresses, handles } = report;
  deepEqual(
    addresses.leaked.map(({ address, attribute }) => `${address} leaked; attrs ${attributeText(attribute)}`),
    ["10.65.1.2 leaked; attrs Main:k8s.gone Extra:namespace=default,node=n1,pod=gone"],
  );
  deepEqual(
    addresses.outsidePools.map(({ address, user }) => `${address} in use by ${userText(user)}`),
    ["192.168.1.1 in use by Workload(default/n1-k8s-far-eth0)"],
  );
  equal(addresses.notAllocated[0]?.address, "10.65.1.40");
  deepEqual(
    handles.idle.map(({ value }) => value.id),
    ["k8s.idle"],
  );
  equal(handles.matched, 2);
  deepEqual(handles.missing, ["k8s.gone"]);
  deepEqual(report.allocationsByNode, [{ node: "n1", count: 3 }]);
  deepEqual(report.invalidBlocks, []);
});

test("uses: all five tunnels of a node, the addresses of an endpoint, and those of a service of type LoadBalancer only", () => {
  const spec = {
    bgp: { ipv4IPIPTunnelAddr: "10.0.0.1" },
    ipv4VXLANTunnelAddr: "10.0.0.2",
    ipv6VXLANTunnelAddr: "fd00:0::2",
    wireguard: { interfaceIPv4Address: "10.0.0.3", interfaceIPv6Address: "fd00::3" },
  };
  deepEqual(
    usesOfNode({ metadata: { name: "n" }, spec }).map(({ address }) => address),
    ["10.0.0.2", "10.0.0.3", "10.0.0.1", "fd00::2", "fd00::3"],
  );
  const endpoint = {
    metadata: { namespace: "a", name: "e" },
    spec: { ipNetworks: ["10.0.0.4/32", "fd00::4/128", "junk"] },
  };
  deepEqual(
    usesOfWorkload(endpoint).map(({ address }) => address),
    ["10.0.0.4", "fd00::4"],
  );
  const status = { loadBalancer: { ingress: [{ ip: "10.0.0.5" }, {}] } };
  const metadata = { namespace: "a", name: "s" };
  equal(usesOfService({ metadata, spec: { type: "LoadBalancer" }, status }).length, 1);
  equal(usesOfService({ metadata, spec: { type: "ClusterIP" }, status }).length, 0);
});

test("a broken block is repaired from its allocations, and is sound then", () => {
  const broken = {
    ...block({ 1: podOf("a"), 3: podOf("b") }).value,
    attributes: [podOf("a"), podOf("b"), podOf("c")],
    unallocated: [2, 2, 3, 9],
    sequenceNumbers: new Map([[0, 5n]]),
  };
  ok(blockFaults(broken).length >= 6);
  const mended = repaired(broken);
  ok(mended !== undefined);
  deepEqual(blockFaults(mended), []);
  deepEqual(mended.unallocated, [2, 0]);
  equal(repaired({ ...broken, attributes: [] }), undefined);
});

test("a stored block is read with everything that is wrong in it, unless it is no range", () => {
  const spec = { cidr: "10.0.0.0/30", strictAffinity: false, allocations: [7], unallocated: [1, 1], attributes: [] };
  const read = readLoosely(spec);
  deepEqual(read.is === "block" ? read.block.allocations : [], [7]);
  equal(readLoosely({ ...spec, cidr: "10.0.0.0/8" }).is, "unreadable");
  equal(readLoosely({ ...spec, cidr: "x" }).is, "unreadable");
});
