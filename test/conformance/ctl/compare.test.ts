// The suite of recorded runs can fail: whatever a program gets wrong is found, and the freedoms are those that are meant.
import { deepEqual, equal, notDeepEqual } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { casesOn, type GoldenCase, type Result, type Step, type StepResult } from "./case.ts";
import { compareMode, differences } from "./compare.ts";
import { Masks, mirrored } from "./masks.ts";

const cases = casesOn("kubernetes", "bare", "etcdv3", "offline", "host");

test("every recorded case is here, and equal to itself", () => {
  equal(cases.length, 115);
  for (const golden of cases) {
    const found = differences(golden, golden.expected, golden.expected);
    // The words of a help are our own: nothing is recorded of it but what it must name.
    deepEqual(golden.name === "help" ? found.filter((each) => !each.includes("stdout lacks")) : found, [], golden.name);
  }
});

function withStep({ expected }: GoldenCase, at: number, change: (step: StepResult) => Partial<StepResult>): Result {
  return {
    ...expected,
    steps: expected.steps.map((step, each) => (each === at ? { ...step, ...change(step) } : step)),
  };
}

const faults: readonly {
  name: string;
  change: (step: StepResult) => Partial<StepResult>;
  fits?: (step: Step) => boolean;
}[] = [
  { name: "another exit code", change: ({ rc }) => ({ rc: rc === 0 ? 1 : 0 }) },
  { name: "a timeout", change: () => ({ rc: -1 }) },
  {
    name: "a line too many",
    change: ({ stdout }) => ({ stdout: ["more", ...stdout] }),
    fits: ({ has }) => has === undefined,
  },
  { name: "nothing on stdout", change: () => ({ stdout: ["nothing"] }) },
  {
    name: "a line of stderr too many",
    change: ({ stderr }) => ({ stderr: ["warning: x", ...stderr] }),
    fits: ({ anyStderr }) => anyStderr !== true,
  },
];

for (const { name, change, fits = () => true } of faults) {
  test(`found in every step of every case: ${name}`, () => {
    let count = 0;
    for (const golden of cases) {
      for (const [at, step] of golden.steps.entries()) {
        // Where the original has a fault, another answer may be the better one.
        if (step.instead !== undefined || !fits(step)) continue;
        const got = withStep(golden, at, change);
        notDeepEqual(differences(golden, golden.expected, got), [], `${golden.name}, step ${at + 1}`);
        count += 1;
      }
    }
    equal(count > 500, true, `only ${count}`);
  });
}

test("found in what is stored: an object that is missing, one too many, and any changed value", () => {
  const storing = cases.filter(({ expected }) => (expected.stored?.objects.length ?? 0) > 0);
  fc.assert(
    fc.property(fc.constantFrom(...storing), fc.nat(), fc.array(fc.nat(), { maxLength: 6 }), (golden, which, path) => {
      const { stored } = golden.expected;
      if (stored === undefined) return;
      const at = which % stored.objects.length;
      const withObjects = (objects: typeof stored.objects): Result => ({
        ...golden.expected,
        stored: { ...stored, objects },
      });
      const changed = stored.objects.map((object, each) =>
        each === at ? (changedAt(object, path) as typeof object) : object,
      );
      for (const objects of [stored.objects.toSpliced(at, 1), changed, [...stored.objects, { key: "/calico/x" }]]) {
        notDeepEqual(differences(golden, golden.expected, withObjects(objects)), []);
      }
      notDeepEqual(
        differences(golden, golden.expected, {
          ...golden.expected,
          stored: { ...stored, initialised: !stored.initialised },
        }),
        [],
      );
    }),
  );
});

/** Follows the numbers as far as there is something to choose; what is there becomes something else. */
function changedAt(value: unknown, [choice = 0, ...rest]: readonly number[]): unknown {
  if (typeof value !== "object" || value === null) return typeof value === "string" ? `${value}x` : "x";
  const keys = Object.keys(value);
  const key = keys[choice % Math.max(keys.length, 1)];
  if (key === undefined) return { more: 1 };
  if (Array.isArray(value)) return value.map((each, at) => (String(at) === key ? changedAt(each, rest) : each));
  return { ...value, [key]: changedAt(Object(value)[key], rest) };
}

const step = (argv: string, more: Partial<Step> = {}): Step => ({ argv: argv.split(" "), ...more });
const result = (rc: number, stdout = "", stderr = ""): Result => ({
  steps: [{ rc, stdout: stdout.split("\n"), stderr: stderr.split("\n") }],
});

const freedoms: { name: string; step: Step; want: Result; got: Result; isSame: boolean }[] = [
  {
    name: "a table may have other spaces",
    step: step("get ippools"),
    want: result(0, "NAME   CIDR   \na      b   \n"),
    got: result(0, "NAME CIDR\na b\n"),
    isSame: true,
  },
  {
    name: "a table may not have another order",
    step: step("get ippools"),
    want: result(0, "a\nb\n"),
    got: result(0, "b\na\n"),
    isSame: false,
  },
  {
    name: "yaml is compared to the letter",
    step: step("get ippools -o yaml"),
    want: result(0, "a:\n- b\n"),
    got: result(0, "a:\n  - b\n"),
    isSame: false,
  },
  {
    name: "json is compared as json",
    step: step("get ippools -ojson"),
    want: result(0, '{"a": 1, "b": 2}'),
    got: result(0, '{"b":2,"a":1}'),
    isSame: true,
  },
  {
    name: "in json an integer beyond 2^53 is compared exactly",
    step: step("get ippools -o json"),
    want: result(0, '{"a": 1723456789012345678}'),
    got: result(0, '{"a": 1723456789012345679}'),
    isSame: false,
  },
  {
    name: "lines may have another order where the original's is random",
    step: step("ipam check", { compare: "lines" }),
    want: result(0, "a\nb"),
    got: result(0, "b\na"),
    isSame: true,
  },
  {
    name: "an error needs no word in front",
    step: step("apply -f x"),
    want: result(1, "", "Error: it is bad\n"),
    got: result(1, "", "it is bad\n"),
    isSame: true,
  },
  {
    name: "an error needs its own words",
    step: step("apply -f x"),
    want: result(1, "", "Error: it is bad\n"),
    got: result(1, "", "it is worse\n"),
    isSame: false,
  },
  {
    name: "what is better than the original is right, in any case of letters",
    step: step("get pods", { instead: { rc: 1, has: ["Kind", "missing"] } }),
    want: result(2, "", "panic: nil\n"),
    got: result(1, "", "the KIND is Missing\n"),
    isSame: true,
  },
  {
    name: "what is better must have its exit code",
    step: step("get pods", { instead: { rc: 1, has: ["missing"] } }),
    want: result(2, "", "panic: nil\n"),
    got: result(0, "", "missing\n"),
    isSame: false,
  },
  {
    name: "a replace that fails may say so plainly",
    step: step("replace -f x"),
    want: result(1, "Partial success: replaced the first 1 out of 1 'IPPool' resources:\n", "Error: hit error: no\n"),
    got: result(1, "", "failed to replace 'IPPool' resource: no\n"),
    isSame: true,
  },
  {
    name: "of a help only some texts are looked for",
    step: step("--help", { has: ["apply"] }),
    want: result(0),
    got: result(0, "commands: get, apply\n"),
    isSame: true,
  },
];

for (const { name, step: each, want, got, isSame } of freedoms) {
  test(name, () => {
    const found = differences({ steps: [each] }, want, got);
    equal(found.length === 0, isSame, found.join("; "));
  });
}

const modes: readonly (readonly [argv: string, mode: string])[] = [
  ["get nodes", "table"],
  ["get nodes -o wide", "table"],
  ["get nodes -oyaml", "text"],
  ["get nodes --output=json", "json"],
  ["get nodes -o custom-columns=NAME", "table"],
  ["get nodes -o go-template={{.}}", "text"],
  ["ipam show --show-blocks", "table"],
  ["node status", "table"],
  ["apply -f -", "text"],
];
for (const [argv, mode] of modes) {
  test(`${argv} is compared as ${mode}`, () => equal(compareMode({ argv: argv.split(" ") }), mode));
}

test("masks: equal UIDs stay equal, mirrored ones are known, times and revisions go", () => {
  const [one, other] = ["11111111-2222-4333-8444-555555555555", "aaaaaaaa-2222-4333-8444-555555555555"];
  const masks = new Masks([["/tmp/x", "<tmp>"]]);
  equal(masks.text(`${one} ${other} ${one} ${mirrored(other)}`), "<uid-1> <uid-2> <uid-1> <uid-2 mirrored>");
  equal(masks.text("in /tmp/x/a at 2026-01-02T03:04:05Z"), "in <tmp>/a at <time>");
  equal(masks.text('resourceVersion: "17"'), 'resourceVersion: "<rv>"');
  equal(
    masks.text("unknown heading X, valid values are: NAME, CIDR"),
    "unknown heading X, valid values are: CIDR, NAME",
  );
  deepEqual(masks.value({ metadata: { resourceVersion: "1" }, n: [1] }), {
    metadata: { resourceVersion: "<rv>" },
    n: [1],
  });
});
