// What waits for what; and over random inputs: claims that cannot be shared never run at the same time.
import { deepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { JsonRecord } from "../../../../base/lib/index.ts";
import { type ApiKind, v3Version } from "../../../../calico/resources/index.ts";
import { type OrderedVerb, predecessors } from "./order.ts";

type Given = { kind: ApiKind; name: string; namespace?: string; spec?: JsonRecord };

function targetOf({ kind, name, namespace = "", spec = {} }: Given) {
  const metadata = namespace === "" ? { name } : { name, namespace };
  return { kind, id: { namespace, name }, object: { kind, apiVersion: v3Version, metadata, spec } } as const;
}

const tier = (name: string): Given => ({ kind: "Tier", name });
const policy = (name: string, tierName?: string): Given => ({
  kind: "GlobalNetworkPolicy",
  name,
  spec: tierName === undefined ? {} : { tier: tierName },
});
const pool = (name: string, cidr: string): Given => ({ kind: "IPPool", name, spec: { cidr } });
const set = (name: string): Given => ({ kind: "GlobalNetworkSet", name });

const rows: { name: string; verb?: OrderedVerb; input: Given[]; after: number[][] }[] = [
  { name: "objects that know nothing of each other", input: [set("a"), set("b"), set("c")], after: [[], [], []] },
  {
    name: "the same object again and again",
    input: [set("a"), set("b"), set("a"), set("a")],
    after: [[], [], [0], [2]],
  },
  {
    name: "one name in two namespaces is two objects",
    input: [
      { kind: "NetworkSet", name: "a", namespace: "x" },
      { kind: "NetworkSet", name: "a", namespace: "y" },
    ],
    after: [[], []],
  },
  {
    name: "policies wait for their tier, and not for each other",
    input: [tier("t"), policy("t.a", "t"), policy("t.b", "t"), policy("c")],
    after: [[], [0], [0], []],
  },
  {
    name: "a tier that comes too late comes after the policy that misses it",
    input: [policy("t.a", "t"), tier("t"), policy("t.b", "t")],
    after: [[], [0], [1]],
  },
  {
    name: "a policy without a tier is in default",
    input: [tier("default"), policy("a")],
    after: [[], [0]],
  },
  {
    name: "pools that overlap",
    input: [pool("a", "10.0.0.0/16"), pool("b", "10.1.0.0/16"), pool("c", "10.0.8.0/24"), pool("d", "10.0.0.0/8")],
    after: [[], [], [0], [0, 1, 2]],
  },
  {
    name: "a pool whose range cannot be read may overlap with any",
    input: [pool("a", "10.0.0.0/16"), pool("b", "x"), pool("c", "10.1.0.0/16")],
    after: [[], [0], [1]],
  },
  {
    name: "peers and the filters that they name",
    input: [
      { kind: "BGPFilter", name: "f" },
      { kind: "BGPPeer", name: "p", spec: { filters: ["f"] } },
      { kind: "BGPPeer", name: "q" },
    ],
    after: [[], [0], []],
  },
  {
    name: "a tier is deleted after everything before it, and before everything after it",
    verb: "delete",
    input: [policy("t.a"), set("s"), tier("t"), set("r")],
    after: [[], [], [0, 1], [2]],
  },
  {
    name: "pools that go do not wait",
    verb: "delete",
    input: [pool("a", "10.0.0.0/8"), pool("b", "10.0.0.0/8")],
    after: [[], []],
  },
  { name: "whoever reads waits for nobody", verb: "get", input: [set("a"), set("a")], after: [[], []] },
];
for (const { name, verb = "apply", input, after } of rows) {
  test(`order: ${name}`, () => deepEqual(predecessors(verb, input.map(targetOf)), after));
}

test("order: of any input, a tier and a policy in it never have no order, nor the same object twice", () => {
  const one = fc.oneof(
    fc.constantFrom("a", "b", "c").map(tier),
    fc.tuple(fc.constantFrom("p", "q"), fc.constantFrom("a", "b", "c")).map(([name, of]) => policy(name, of)),
    fc.constantFrom("s", "t").map(set),
  );
  fc.assert(
    fc.property(fc.array(one, { maxLength: 30 }), (input) => {
      const after = predecessors("apply", input.map(targetOf));
      const all = after.map((direct) => new Set(direct));
      for (const before of all) for (const at of before) for (const further of all[at] ?? []) before.add(further);
      for (const [later, b] of input.entries()) {
        for (const [earlier, a] of input.slice(0, later).entries()) {
          const isSame = a.kind === b.kind && a.name === b.name;
          const isTier = (x: Given, y: Given) => x.kind === "Tier" && y.kind !== "Tier" && y.spec?.tier === x.name;
          if (isSame || isTier(a, b) || isTier(b, a)) ok(all[later]?.has(earlier), `${earlier} before ${later}`);
        }
      }
    }),
  );
});
