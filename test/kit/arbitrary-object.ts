// Random objects for property tests: valid by a CRD's schema, or hostile by every trick JSON allows.
import fc from "fast-check";
import { type CustomKind, crdSchema, kindInfo } from "../../src/calico/kinds/index.ts";
import type { CrdSchema } from "../../src/calico/model/index.ts";

const words = fc.constantFrom(
  "",
  "a",
  "default",
  "node-1",
  "all()",
  "a == 'b'",
  "has(",
  "10.0.0.0/8",
  "10.0.0.1",
  "fd00::/64",
  "junk",
  "80",
  "80:90",
  "http",
  "TCP",
  "47",
  "1m30s",
  "2026-01-02T03:04:05Z",
  "64512:1",
  "eth0",
  "é<&>",
);

/** What the API server would let in, more or less: enums, types and limits are kept, patterns are not. */
function arbitraryOf(schema: CrdSchema): fc.Arbitrary<unknown> {
  if (schema["x-kubernetes-int-or-string"] === true) return fc.oneof(fc.integer({ min: 0, max: 70_000 }), words);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case "string":
      return schema.format === "date-time" ? fc.constant("2026-01-02T03:04:05Z") : words;
    case "boolean":
      return fc.boolean();
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "integer": {
      const min = typeof schema.minimum === "number" ? schema.minimum : -1;
      const max = typeof schema.maximum === "number" ? schema.maximum : 70_000;
      const value = fc.integer({ min, max: Math.min(max, 2 ** 31 - 1) });
      return schema.nullable === true ? fc.option(value) : value;
    }
    case "array":
      return fc.array(arbitraryOf(schema.items as CrdSchema), { maxLength: 3 }); // every array schema has items
    case "object":
      return arbitraryObject(schema);
    default:
      return fc.constant(undefined);
  }
}

function arbitraryObject(schema: CrdSchema): fc.Arbitrary<unknown> {
  if (schema.additionalProperties !== undefined) {
    const element = arbitraryOf(schema.additionalProperties as CrdSchema); // an object schema, when it is there
    return fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), element, { maxKeys: 3 });
  }
  const members = Object.entries((schema.properties ?? {}) as { [name: string]: CrdSchema });
  const model = Object.fromEntries(members.map(([name, member]) => [name, arbitraryOf(member)]));
  return fc.record(model, { requiredKeys: (schema.required ?? []) as string[] });
}

const labels = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), words, { maxKeys: 3 });

export function arbitraryResource(kind: CustomKind, name: string): fc.Arbitrary<unknown> {
  const { namespaced } = kindInfo(kind);
  const { spec, status } = crdSchema(kind).properties as { spec: CrdSchema; status?: CrdSchema };
  return fc.record({
    apiVersion: fc.constant("crd.projectcalico.org/v1"),
    kind: fc.constant(kind),
    metadata: fc.record(
      {
        name: fc.constant(name),
        ...(namespaced ? { namespace: fc.constant("shop") } : {}),
        uid: fc.constant("30316465-6365-4463-ad63-3564622d3638"),
        resourceVersion: fc.constantFrom("1", "2"),
        labels,
        annotations: labels,
      },
      { requiredKeys: ["name"] },
    ),
    spec: arbitraryOf(spec),
    ...(status === undefined ? {} : { status: arbitraryOf(status) }),
  });
}

/** Any JSON at any place, `__proto__` keys, numbers beyond 2^53, deep nesting and long strings included. */
export const hostileJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom<unknown>(
    null,
    undefined,
    "",
    [],
    {},
    Number.POSITIVE_INFINITY,
    -1,
    2 ** 60,
    1n << 70n,
    "x".repeat(100_000),
    JSON.parse('{"__proto__":{"polluted":true}}'),
    JSON.parse('{"constructor":{"prototype":1}}'),
    JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`),
    JSON.parse(`${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`),
  ),
);

/** A valid object with hostile JSON put in some places. */
export function hostileResource(kind: CustomKind, name: string): fc.Arbitrary<unknown> {
  const place = (value: unknown, bad: unknown, choices: number[]): unknown => {
    const [choice = 0, ...rest] = choices;
    if (typeof value !== "object" || value === null || choices.length === 0) return bad;
    const keys = Object.keys(value);
    const key = keys[choice % Math.max(keys.length, 1)];
    if (key === undefined) return bad;
    const changed = place((value as { [key: string]: unknown })[key], bad, rest); // an object or array has string keys
    return Array.isArray(value)
      ? value.map((v, at) => (String(at) === key ? changed : v))
      : { ...value, [key]: changed };
  };
  return fc
    .tuple(arbitraryResource(kind, name), hostileJson, fc.array(fc.nat(20), { maxLength: 6 }))
    .map(([object, bad, choices]) => place(object, bad, choices));
}
