// Objects that somebody might have written: shaped by the schema of their kind, with values that fit the names of the fields.
// Most of them break no rule, which arbitrary-object.ts, made to find what crashes, hardly ever achieves.
import fc from "fast-check";
import { type CustomKind, crdSchema, kindInfo } from "../../src/calico/kinds/index.ts";
import type { CrdSchema } from "../../src/calico/model/index.ts";

/** By the name of the field; the first that fits. */
const texts: readonly [name: RegExp, ...values: string[]][] = [
  [/cidr|nets|reachableNets/i, "10.1.0.0/16", "192.0.2.0/24"],
  [/selector/i, "all()", "a == 'b'"],
  [/(time|interval|period|timeout|ttl|keepAlive)(secs)?$/i, "30s", "1m30s"],
  [/lastUpdated|TransitionTime|ClaimTime|releasedAt/, "2026-01-31T12:00:00Z"],
  [/ipv6|V6$/i, "fd00::1"],
  [/ip$|ips$|address$|^reachableBy$/i, "10.0.0.1", "10.0.0.2"],
  [/value|communit/i, "1:2"],
  [/regex|pattern/i, "eth.*"],
  [/exact|prefix/i, "/a"],
  [/deleted/, "false"],
];

const isIn = (schema: unknown): schema is CrdSchema => typeof schema === "object" && schema !== null;

function likely(schema: CrdSchema, name: string): fc.Arbitrary<unknown> {
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (schema["x-kubernetes-int-or-string"] === true) {
    return /protocol/i.test(name) ? fc.constantFrom("TCP", "UDP", 6) : fc.constantFrom(80, "80:90", "http");
  }
  switch (schema.type) {
    case "string":
      return likelyText(schema, name);
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number": {
      const min = typeof schema.minimum === "number" ? schema.minimum : 1;
      return fc.integer({ min, max: Math.min(typeof schema.maximum === "number" ? schema.maximum : 100, min + 100) });
    }
    case "array": {
      const element = isIn(schema.items) ? likely(schema.items, name) : fc.constant("a");
      return fc.uniqueArray(element, { maxLength: 2, selector: (value) => JSON.stringify(value) });
    }
    default:
      return likelyObject(schema, name);
  }
}

function likelyText({ pattern, format, maxLength }: CrdSchema, name: string): fc.Arbitrary<unknown> {
  const known = format === "cidr" ? ["10.1.0.0/16"] : texts.find(([fits]) => fits.test(name))?.slice(1);
  const values = (known ?? ["a", "b-c"]).map(String);
  const fits = (value: string) => {
    const isShort = typeof maxLength !== "number" || value.length <= maxLength;
    const rule = typeof pattern === "string" ? new RegExp(pattern.replace("(?i)", ""), "i") : undefined;
    return isShort && (rule === undefined || rule.test(value));
  };
  const good = values.filter(fits);
  return good.length > 0 ? fc.constantFrom(...good) : fc.constant("");
}

function likelyObject(schema: CrdSchema, name: string): fc.Arbitrary<unknown> {
  if (isIn(schema.additionalProperties)) {
    return fc.dictionary(fc.constantFrom("a", "b.c/d"), likely(schema.additionalProperties, name), { maxKeys: 2 });
  }
  const members = Object.entries(isIn(schema.properties) ? schema.properties : {});
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const others = members.map(([member]) => member).filter((member) => !required.includes(member));
  // Few of many: a rule that is all of its fields at once contradicts itself.
  return fc.subarray(others, { maxLength: Math.min(4, others.length) }).chain((chosen) =>
    fc.record(
      Object.fromEntries(
        members
          .filter(([member]) => required.includes(member) || chosen.includes(member))
          .map(([member, inner]) => [member, likely(inner as CrdSchema, member)]), // properties are schemas
      ),
    ),
  );
}

export function likelyResource(kind: CustomKind, name: string): fc.Arbitrary<object> {
  const { spec } = Object(crdSchema(kind).properties);
  const metadata = { name, ...(kindInfo(kind).namespaced ? { namespace: "shop" } : {}) };
  return likely(spec, "spec").map((value) => ({ metadata, spec: value }));
}
