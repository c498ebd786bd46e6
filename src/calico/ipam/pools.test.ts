// Which pools a request gets, and what it is told when there is none.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type AddressRange, parseRange, sizeOf } from "../../base/lib/index.ts";
import { choosePools, type Pool, type PoolObject, type PoolRequest, poolOf, readPool } from "./pools.ts";
import { isReserved, readReservations } from "./reservations.ts";

const pool = (
  name: string,
  cidr: string,
  spec: PoolObject["spec"] = {},
  rest: Partial<PoolObject> = {},
): PoolObject => ({
  name,
  spec: { cidr, ...spec },
  ...rest,
});
const read = (objects: readonly PoolObject[]): Pool[] => objects.flatMap((object) => readPool(object) ?? []);

function range(text: string): AddressRange {
  const found = parseRange(text);
  if (found === undefined) throw new Error(`${text} is no range`);
  return found;
}

const a = pool("a", "10.1.0.0/16");
const b = pool("b", "10.2.0.0/16");
const off = pool("off", "10.3.0.0/16", { disabled: true });
const six = pool("six", "fd00::/64");
const east = pool("east", "10.4.0.0/16", { nodeSelector: "zone == 'east'" });
const team = pool("team", "10.5.0.0/16", { namespaceSelector: "team == 'x'" });
const manual = pool("manual", "10.6.0.0/16", { assignmentMode: "Manual" });
const tunnels = pool("tunnels", "10.7.0.0/16", { allowedUses: ["Tunnel"] });
const refusedPool = pool("z", "10.8.0.0/16", {}, { conditions: [{ type: "Allocatable", status: "False" }] });

const cases: { name: string; pools: PoolObject[]; ask?: Partial<PoolRequest>; gets: string[] | string }[] = [
  { name: "pools come by name, whatever the order they were read in", pools: [b, a], gets: ["a", "b"] },
  {
    name: "requested pools come in the order of the request",
    pools: [a, b],
    ask: { requested: ["b", "a"] },
    gets: ["b", "a"],
  },
  { name: "a pool is named by its network too", pools: [a, b], ask: { requested: ["10.2.0.0/16"] }, gets: ["b"] },
  { name: "host bits of a request are dropped", pools: [a, b], ask: { requested: ["10.2.3.4/16"] }, gets: ["b"] },
  { name: "a disabled pool is not used", pools: [a, off], gets: ["a"] },
  { name: "a pool that is not allocatable is as good as disabled", pools: [a, refusedPool], gets: ["a"] },
  { name: "the other family's pools are not used", pools: [a, six], ask: { family: 6 }, gets: ["six"] },
  { name: "no pool at all", pools: [], gets: "cannot find a qualified ippool" },
  { name: "only disabled pools", pools: [off], gets: "cannot find a qualified ippool" },
  { name: "a node selector that fits", pools: [east], ask: { nodeLabels: { zone: "east" } }, gets: ["east"] },
  { name: "a node selector that does not fit", pools: [east], gets: "no configured Calico pools for node n1" },
  { name: "a requested pool need not select the node", pools: [east], ask: { requested: ["east"] }, gets: ["east"] },
  {
    name: "a namespace selector that fits",
    pools: [a, team],
    ask: { namespaceLabels: { team: "x" } },
    gets: ["a", "team"],
  },
  { name: "a namespace selector that does not fit", pools: [a, team], gets: ["a"] },
  { name: "a manual pool is for those who name it", pools: [a, manual], gets: ["a"] },
  { name: "a manual pool that is named", pools: [a, manual], ask: { requested: ["manual"] }, gets: ["manual"] },
  { name: "only manual pools", pools: [manual], gets: "no configured Calico pools for node n1" },
  { name: "uses are kept apart", pools: [a, tunnels], gets: ["a"] },
  {
    name: "a pool without uses is for pods and tunnels",
    pools: [a, tunnels],
    ask: { use: "Tunnel" },
    gets: ["a", "tunnels"],
  },
  {
    name: "no pool for the use",
    pools: [tunnels],
    gets: "cannot find a qualified ippool, no pools match the required use (Workload)",
  },
  {
    name: "a requested pool that is disabled",
    pools: [a, off],
    ask: { requested: ["10.3.0.0/16"] },
    gets: "the given pool (10.3.0.0/16) does not exist, or is not enabled",
  },
  {
    name: "a requested pool that nobody knows",
    pools: [a],
    ask: { requested: ["nope"] },
    gets: 'error parsing pool "nope": invalid CIDR address: nope',
  },
  {
    name: "a requested pool of the other family",
    pools: [a, six],
    ask: { requested: ["six"] },
    gets: `"fd00::" isn't a IPv4 address`,
  },
  {
    name: "a requested IPv4 pool for IPv6",
    pools: [a, six],
    ask: { requested: ["a"], family: 6 },
    gets: `"10.1.0.0" isn't a IPv6 address`,
  },
];

for (const { name, pools, ask = {}, gets } of cases) {
  test(`choosing pools: ${name}`, () => {
    const request: PoolRequest = {
      family: 4,
      use: "Workload",
      node: "n1",
      nodeLabels: {},
      namespaceLabels: {},
      requested: [],
      ...ask,
    };
    const chosen = choosePools(read(pools), request);
    deepEqual(chosen.is === "refused" ? chosen.says : chosen.pools.map((each) => each.name), gets);
  });
}

test("a selector that cannot be read is said with its pool", () => {
  const bad = read([pool("bad", "10.1.0.0/16", { nodeSelector: "zone ==" })]);
  const ask = { family: 4, use: "Workload", node: "n", nodeLabels: {}, namespaceLabels: {}, requested: [] } as const;
  const chosen = choosePools(bad, ask);
  equal(chosen.is === "refused" && chosen.reason === "bad-selector" && chosen.says.includes("of pool bad"), true);
});

test("the pool of an address may be disabled where that does not matter", () => {
  const pools = read([a, off]);
  equal(poolOf(pools, range("10.3.0.1"), "enabled"), undefined);
  equal(poolOf(pools, range("10.3.0.1"), "any")?.name, "off");
});

test("sizes that are not given are the family's", () => {
  deepEqual(
    read([a, six, pool("c", "10.9.0.0/16", { blockSize: 0 }), pool("d", "10.10.0.0/16", { blockSize: 29n })]).map(
      ({ blockSize }) => blockSize,
    ),
    [26, 122, 26, 29],
  );
});

const reserved: { name: string; cidrs: string[]; block: string; is: boolean }[] = [
  { name: "nothing is reserved", cidrs: [], block: "10.0.0.0/26", is: false },
  { name: "a part is not the whole", cidrs: ["10.0.0.0/27"], block: "10.0.0.0/26", is: false },
  { name: "two halves are the whole", cidrs: ["10.0.0.32/27", "10.0.0.0/27"], block: "10.0.0.0/26", is: true },
  { name: "a larger range holds it", cidrs: ["10.0.0.0/8"], block: "10.0.0.0/26", is: true },
  { name: "an address without mask is that one", cidrs: ["10.0.0.7"], block: "10.0.0.7/32", is: true },
  {
    name: "blank and malformed entries are passed over",
    cidrs: ["", " ", "x/y", "10.0.0.7"],
    block: "10.0.0.7/32",
    is: true,
  },
  { name: "the families do not meet", cidrs: ["::/0"], block: "10.0.0.0/26", is: false },
];
for (const { name, cidrs, block, is } of reserved) {
  test(`reservations: ${name}`, () =>
    equal(isReserved(readReservations([{ reservedCIDRs: cidrs }]), range(block)), is));
}

test("for any reservations: a block is reserved if each of its addresses is", () => {
  const anyRange = fc
    .tuple(fc.integer({ min: 0, max: 63 }), fc.integer({ min: 26, max: 32 }))
    .map(([last, length]) => `10.0.0.${last}/${length}`);
  fc.assert(
    fc.property(fc.array(anyRange, { maxLength: 12 }), anyRange, (cidrs, text) => {
      const reservations = readReservations([{ reservedCIDRs: cidrs }]);
      const block = range(text);
      const each = Array.from({ length: Number(sizeOf(block)) }, (_, at) => ({
        ...block,
        first: block.first + BigInt(at),
        prefixLength: 32,
      }));
      equal(
        isReserved(reservations, block),
        each.every((address) => isReserved(reservations, address)),
      );
    }),
  );
});
