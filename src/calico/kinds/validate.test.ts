// What calicoctl said of single documents (test/vectors/golden/ctl), and rules that need what is stored.
import { deepEqual, equal, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Kind, problemsBeforeWrite, problemText, validate } from "./index.ts";

type Recorded = {
  readonly case: string;
  readonly datastore: "kubernetes" | "etcdv3" | "offline";
  readonly verb: string;
  readonly object: { readonly kind: Kind };
  readonly error?: string;
};

const recorded: readonly Recorded[] = JSON.parse(readFileSync("test/vectors/golden/ctl/documents.json", "utf8"));

/** What the schemas of CRDs say comes from the API server, but where there is none. */
const hasOwnSchemas = ({ datastore, verb }: Recorded) => datastore === "etcdv3" || verb === "validate";

test("the recorded documents were found", () => ok(recorded.length > 100));

for (const one of recorded) {
  if (hasOwnSchemas(one)) continue;
  test(`${one.case}: ${one.verb} says ${one.error === undefined ? "nothing" : "what calicoctl says"}`, () => {
    const { kind } = one.object;
    const before = problemsBeforeWrite(kind, one.object);
    equal(problemText(before.length > 0 ? before : validate(kind, one.object)), one.error ?? "");
  });
}

const pool = (spec: object) => ({ metadata: { name: "p" }, spec: { cidr: "10.20.0.0/16", blockSize: 26, ...spec } });
const fixed: { name: string; now: object; was: object; says: string[] }[] = [
  { name: "a pool may be disabled", now: { disabled: true }, was: {}, says: [] },
  {
    name: "a pool keeps its addresses",
    now: { cidr: "10.21.0.0/16" },
    was: {},
    says: ["error with field IPPool.Spec.CIDR = '10.21.0.0/16' (IPPool CIDR cannot be modified)"],
  },
  {
    name: "a pool keeps the size of its blocks",
    now: { blockSize: 29 },
    was: {},
    says: ["error with field IPPool.Spec.BlockSize = '29' (IPPool BlockSize cannot be modified)"],
  },
  {
    name: "a pool for load balancers stays one",
    now: { allowedUses: ["Workload"] },
    was: { allowedUses: ["LoadBalancer"] },
    says: [
      "error with field IPPool.Spec.AllowedUses = '[Workload]' (IPPool allowed use cannot be changed from LoadBalacer to Workload or Tunnel)",
    ],
  },
];
for (const { name, now, was, says } of fixed) {
  test(`before an update: ${name}`, () => {
    const found = problemsBeforeWrite("IPPool", pool(now), pool(was));
    deepEqual(
      found.map((problem) => problemText([problem])),
      says,
    );
  });
}

test("what the schema cannot read is one problem, at its place", () => {
  const [problem, ...others] = validate("IPPool", { metadata: { name: "p" }, spec: { natOutgoing: "yes" } });
  equal(others.length, 0);
  equal(problem?.field, "spec.natOutgoing");
});
