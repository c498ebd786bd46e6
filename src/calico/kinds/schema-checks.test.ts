// Our reading of the CRDs against what an API server with Calico's own was recorded to do (test/vectors/golden/cases), and
// against objects that nobody would write.
import { deepEqual, doesNotThrow, equal, ok, throws } from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { hostileResource } from "../../../test/kit/arbitrary-object.ts";
import { whyBroken } from "./checks/cel-evaluate.ts";
import {
  customKinds,
  problemsBeforeWrite,
  schemaProblems,
  unknownField,
  validate,
  withDefaults,
  withSchemaDefaults,
} from "./index.ts";

type Written = { apiVersion: string; kind: string; metadata: { name: string; namespace?: string }; spec?: unknown };
type Step = { op: string; objects?: Written[] };
type Observed = { answer?: { code?: number; rejected?: string; spec?: unknown } };

const root = "test/vectors/golden/cases";
const isCase = (name: string) => ["observed", "steps"].every((file) => existsSync(`${root}/${name}/${file}.json`));
const read = <T>(name: string, file: string) => JSON.parse(readFileSync(`${root}/${name}/${file}.json`, "utf8")) as T;

let writes = 0;
let refusals = 0;

for (const name of readdirSync(root).filter(isCase)) {
  const observed = read<Observed[]>(name, "observed");
  const { steps } = read<{ steps: Step[] }>(name, "steps");
  const all = steps.flatMap(({ op, objects = [] }) => objects.map((object) => ({ op, object })));
  test(`${name}: objects are refused and filled in as by the API server`, () => {
    const stored = new Map<string, unknown>();
    for (const [at, { op, object }] of all.entries()) {
      const kind = customKinds.find((one) => one === object.kind);
      const isOurs = object.apiVersion === "crd.projectcalico.org/v1" && (op === "create" || op === "update");
      if (kind === undefined || !isOurs) continue;
      const { code = 200, rejected = "", spec } = observed[at]?.answer ?? {};
      const key = `${kind} ${object.metadata.namespace} ${object.metadata.name}`;
      const filled = withSchemaDefaults(kind, object);
      const problems = schemaProblems(kind, filled, op === "update" ? stored.get(key) : undefined);
      writes += 1;
      equal(problems.length > 0, code >= 300, `${key}: ${rejected || JSON.stringify(problems)}`);
      if (code >= 300) refusals += 1;
      else {
        stored.set(key, filled);
        // A server drops what it does not know; whoever writes for a user refuses it before.
        if (unknownField(kind, object) === undefined) deepEqual(Object(filled).spec, spec, key);
      }
    }
  });
}

test("enough was written and refused to mean something", () =>
  ok(writes > 150 && refusals > 10, `${writes}, ${refusals}`));

const self = { name: "abc", list: ["x"], zero: 0, inner: { flag: true }, cidr: "10.1.2.3/16", huge: 2n ** 60n };
const rules: [rule: string, isKept: boolean][] = [
  ["has(self.name) && !has(self.none)", true],
  ["has(self.none.deeper)", false],
  ["self.none == 1", false],
  ["self.none == 1 || size(self.list) == 1", true],
  ["size(self.list) == 1 || self.none == 1", true],
  ["self.none == 1 && self.zero == 1", false],
  ["self.zero == 0 ? self.inner.flag : false", true],
  ["self.list.exists(e, e == 'x') && !self.list.exists(e, e == 'y')", true],
  ["self.name.contains('b') && self.name.startsWith('a')", true],
  ["cidr(self.cidr) == cidr(self.cidr).masked()", false],
  ["cidr(self.cidr).prefixLength() <= 16 && cidr(self.cidr).ip().family() == 4", true],
  ["cidr('10.1.0.0/16').containsIP('10.1.9.9') && !cidr('10.1.0.0/16').containsIP('fd00::1')", true],
  ["isIP(self.name) || cidr(self.name).prefixLength() == 1", false],
  ["self.huge > 5 && self.huge != 5", true],
  ["!(self.zero > 0) == true", true],
];
for (const [rule, isKept] of rules)
  test(`the rule ${rule} is ${isKept ? "kept" : "broken"}`, () => equal(whyBroken(rule, self) === undefined, isKept));

for (const rule of ["self.", "self ==", "unheard(self)", "self.unheard()", "(self", "self self", "self # 1"]) {
  test(`"${rule}" is no rule`, () => throws(() => whyBroken(rule, self), SyntaxError));
}

for (const kind of customKinds) {
  test(`any ${kind}, however odd, is judged and never crashes`, () => {
    fc.assert(
      fc.property(fc.oneof(hostileResource(kind, "a"), fc.anything()), (object) => {
        doesNotThrow(() => {
          validate(kind, object);
          problemsBeforeWrite(kind, object, object);
          schemaProblems(kind, withSchemaDefaults(kind, withDefaults(kind, object)), object);
          unknownField(kind, object);
        });
      }),
      { numRuns: 60 },
    );
  });
}
