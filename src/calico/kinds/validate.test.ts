// What calicoctl said of single documents (test/vectors/golden/ctl), and rules that need what is stored.
import { deepEqual, equal, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  type Kind,
  problemsBeforeWrite,
  problemText,
  schemaProblems,
  unknownField,
  validate,
  withDefaults,
  withSchemaDefaults,
} from "./index.ts";

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
  test(`${one.case}: ${one.verb} says ${one.error === undefined ? "nothing" : "what calicoctl says"}`, () => {
    const { kind } = one.object;
    const before = one.verb === "validate" ? [] : problemsBeforeWrite(kind, one.object);
    const rules = before.length > 0 ? before : validate(kind, one.object);
    // The API server says the rest only of what got as far as that.
    const isLast = hasOwnSchemas(one) && before.length === 0;
    const written = one.verb === "validate" ? one.object : withDefaults(kind, one.object);
    const schema = isLast ? schemaProblems(kind, withSchemaDefaults(kind, written)) : [];
    equal(problemText([...rules, ...schema]), one.error ?? "");
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

const strangers: { name: string; kind: Kind; object: object; field: string | undefined }[] = [
  { name: "nothing", kind: "IPPool", object: { spec: { cidr: "10.0.0.0/8" } }, field: undefined },
  { name: "a member of the spec", kind: "IPPool", object: { spec: { cidr: "x", bogus: 1 } }, field: "bogus" },
  { name: "a member beside the spec", kind: "IPPool", object: { specs: {} }, field: "specs" },
  {
    name: "a member deep inside",
    kind: "NetworkPolicy",
    object: { spec: { ingress: [{ action: "Allow", source: { net: [] } }] } },
    field: "net",
  },
  { name: "labels of any name", kind: "Profile", object: { spec: { labelsToApply: { any: "a" } } }, field: undefined },
];
for (const { name, kind, object, field } of strangers) {
  test(`unknown: ${name} is ${field === undefined ? "known" : "found"}`, () =>
    equal(unknownField(kind, object), field));
}
