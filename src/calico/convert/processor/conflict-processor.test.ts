import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createIpPoolProcessor } from "../ipam/ip-pool.ts";
import { createIpamBlockProcessor } from "../ipam/ipam.ts";
import type { ProcessorOutput } from "./processor.ts";

const id = (name: string) => ({ namespace: "", name });
const pool = (cidr: string, natOutgoing = false) => ({ spec: { cidr, natOutgoing } });

/** path of the pool, which revision's value, and how many problems. */
function said({ kvs, problems }: ProcessorOutput): [string, string][] {
  const told = kvs.map(({ path, value, revision }): [string, string] => [
    path.slice("/calico/v1/ipam/v4/pool/".length),
    value === undefined ? "deleted" : revision,
  ]);
  return problems.length === 0 ? told : [...told, ["problem", problems[0]?.field ?? ""]];
}

test("two pools with one CIDR: the smaller name owns it, and the other waits", () => {
  const pools = createIpPoolProcessor();
  deepEqual(said(pools.set(id("b"), "1", pool("10.0.0.0/16"))), [["10.0.0.0-16", "1"]]);
  deepEqual(said(pools.set(id("a"), "2", pool("10.0.0.0/16"))), [["10.0.0.0-16", "2"]]);
  deepEqual(said(pools.set(id("b"), "3", pool("10.0.0.0/16", true))), []);
  deepEqual(said(pools.set(id("a"), "4", pool("10.1.0.0/16"))), [
    ["10.0.0.0-16", "3"],
    ["10.1.0.0-16", "4"],
  ]);
  deepEqual(said(pools.set(id("a"), "5", pool("junk"))), [
    ["10.1.0.0-16", "deleted"],
    ["problem", "spec.cidr"],
  ]);
  deepEqual(said(pools.delete(id("a"))), []);
  deepEqual(said(pools.delete(id("b"))), [["10.0.0.0-16", "deleted"]]);
});

test("three pools with one CIDR hand it on in the order of their names", () => {
  const pools = createIpPoolProcessor();
  for (const name of ["c", "a", "b"]) pools.set(id(name), name, pool("10.0.0.0/16"));
  deepEqual(said(pools.delete(id("b"))), []);
  deepEqual(said(pools.delete(id("a"))), [["10.0.0.0-16", "c"]]);
});

test("the same network written otherwise is the same key", () => {
  const pools = createIpPoolProcessor();
  pools.set(id("a"), "1", pool("10.0.0.0/16"));
  deepEqual(said(pools.set(id("b"), "2", pool("10.0.5.5/16"))), []);
});

test("a block whose CIDR changes leaves its old key", () => {
  const blocks = createIpamBlockProcessor({ flavour: "kubernetes" });
  const block = (cidr: string) => ({ spec: { cidr } });
  blocks.set(id("x"), "1", block("10.0.0.0/26"));
  const { kvs } = blocks.set(id("x"), "2", block("10.0.0.64/26"));
  deepEqual(
    kvs.map(({ path, value }) => [path, value === undefined]),
    [
      ["/calico/ipam/v2/assignment/ipv4/block/10.0.0.0-26", true],
      ["/calico/ipam/v2/assignment/ipv4/block/10.0.0.64-26", false],
    ],
  );
});

const names = ["", "a", "b", "ab", "é"];
const cidrs = ["10.0.0.0/26", "10.0.0.64/26", "junk"];
const step = fc.record({
  name: fc.constantFrom(...names),
  cidr: fc.option(fc.constantFrom(...cidrs), { nil: undefined }), // undefined: deleted
});
for (const { of, create, ownerIs } of [
  { of: "pools", create: () => createIpPoolProcessor(), ownerIs: 0 },
  { of: "blocks", create: () => createIpamBlockProcessor({ flavour: "kubernetes" }), ownerIs: -1 },
]) {
  test(`${of}: whatever came before, each key has what its owner last said`, () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const processor = create();
        const sent = new Map<string, string>();
        const claims = new Map<string, { cidr: string; revision: string }>();
        for (const [index, { name, cidr }] of steps.entries()) {
          const revision = `${index + 1}`;
          const { kvs } =
            cidr === undefined ? processor.delete(id(name)) : processor.set(id(name), revision, pool(cidr));
          for (const { path, value, revision: said } of kvs) {
            if (value === undefined) sent.delete(path);
            else sent.set(path, said);
          }
          if (cidr === undefined || cidr === "junk") claims.delete(name);
          else claims.set(name, { cidr, revision });
        }
        const owned = cidrs.flatMap((cidr) => {
          const claimants = [...claims].filter(([, claim]) => claim.cidr === cidr).map(([name]) => name);
          const owner = claimants.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).at(ownerIs);
          return owner === undefined ? [] : [claims.get(owner)?.revision];
        });
        deepEqual([...sent.values()].sort(), owned.sort());
      }),
    );
  });
}
