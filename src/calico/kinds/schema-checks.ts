// What an API server does with the schema of a kind's CRD, for datastores that have no API server and for files that are
// checked without one: members that nobody knows are found, defaults filled in, limits and rules held against the object.
import { isRecord, type JsonRecord, parseCidr } from "../../base/lib/index.ts";
import type { CrdSchema } from "../model/index.ts";
import { whyBroken } from "./checks/cel-evaluate.ts";
import type { Problem } from "./checks/check.ts";
import { crdSchema } from "./crds.ts";
import { isCustomKind, type Kind, kindInfo } from "./registry.ts";

/** Of the whole object; Calico's kinds without a CRD have what their schema says. */
function schemaOf(kind: Kind): CrdSchema {
  if (isCustomKind(kind)) return crdSchema(kind);
  if (kind === "IPAMConfiguration") return crdSchema("IPAMConfig", "projectcalico.org");
  const { schema } = kindInfo(kind);
  const status = schema?.status === undefined ? {} : { status: schema.status.crd };
  return { type: "object", properties: { metadata: { type: "object" }, spec: schema?.spec.crd ?? {}, ...status } };
}

function membersOf(schema: CrdSchema): { readonly [name: string]: CrdSchema } {
  return isRecord(schema.properties) ? (schema.properties as { readonly [name: string]: CrdSchema }) : {};
}

const inner = (schema: unknown): CrdSchema | undefined => (isRecord(schema) ? schema : undefined);

/** The name of the first member that the kind does not have; undefined: it has all of them. Metadata is not looked at. */
export function unknownField(kind: Kind, value: unknown): string | undefined {
  const known = membersOf(schemaOf(kind));
  if (!isRecord(value)) return undefined;
  for (const [name, member] of Object.entries(value)) {
    if (name === "kind" || name === "apiVersion" || name === "metadata") continue;
    const schema = known[name];
    const found = schema === undefined ? name : unknownIn(schema, member);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Goes no deeper than the schema: what lies below has no names that could be wrong. */
function unknownIn(schema: CrdSchema, value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const element = inner(schema.items);
    return element === undefined ? undefined : firstOf(value, (one) => unknownIn(element, one));
  }
  if (!isRecord(value)) return undefined;
  if (schema.properties === undefined) {
    const element = inner(schema.additionalProperties);
    return element === undefined ? undefined : firstOf(Object.values(value), (member) => unknownIn(element, member));
  }
  const members = membersOf(schema);
  return firstOf(Object.entries(value), ([name, member]) => {
    const known = members[name];
    return known === undefined ? name : unknownIn(known, member);
  });
}

function firstOf<T, R>(values: readonly T[], find: (value: T) => R | undefined): R | undefined {
  for (const value of values) {
    const found = find(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The object with the defaults of the schema where they are missing. */
export function withSchemaDefaults(kind: Kind, value: unknown): unknown {
  return filled(schemaOf(kind), value);
}

function filled(schema: CrdSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const element = inner(schema.items);
    return element === undefined ? value : value.map((one) => filled(element, one));
  }
  if (!isRecord(value)) return value;
  const copy: { [name: string]: unknown } = { ...value };
  for (const [name, member] of Object.entries(membersOf(schema))) {
    if (copy[name] === undefined && member.default !== undefined) copy[name] = member.default;
    else if (copy[name] !== undefined) copy[name] = filled(member, copy[name]);
  }
  return copy;
}

/** What breaks the schema's limits, then what breaks its rules. `previous` is what is stored, for rules about change. */
export function schemaProblems(kind: Kind, value: unknown, previous?: unknown): readonly Problem[] {
  if (!hasCrd(kind)) return [];
  const schema = schemaOf(kind);
  const found = [...onlyOnce(limitProblems(schema, value, "")), ...ruleProblems(schema, { value, previous }, "")];
  // What is wrong with the object as a whole goes by its kind, as in the original.
  return found.map((problem) => (problem.name === "" ? { ...problem, name: kind } : problem));
}

/** Two parts of a schema may ask for the same. */
function onlyOnce(problems: Iterable<Problem>): Iterable<Problem> {
  return new Map([...problems].map((problem) => [`${problem.name} ${problem.reason}`, problem])).values();
}

function broken(field: string, reason: string): Problem {
  return { field, rule: reason, name: field, reason };
}

/** The original's kinds without a CRD have no schema that it would look at. */
function hasCrd(kind: Kind): boolean {
  return isCustomKind(kind) || kind === "IPAMConfiguration";
}

function atMost(most: number): string {
  return `must have at most ${most} ${most === 1 ? "item" : "items"}`;
}

/** In the order in which an API server looks: what a schema is made of, texts, numbers, lists, one of a few, objects. */
function* limitProblems(schema: CrdSchema, value: unknown, at: string): Generator<Problem> {
  if (value === undefined) return;
  const body = (rule: string) => broken(at, `${at} in body ${rule}`);
  if (value === null) {
    // What Go writes although it is not there, such as a list that must be given.
    if (typeof schema.type === "string" && schema.nullable !== true)
      yield body(`must be of type ${schema.type}: "null"`);
    return;
  }
  if (Array.isArray(schema.allOf)) yield* allOfProblems(schema.allOf, value, at);
  if (typeof value === "string") yield* textProblems(schema, value, at);
  if (typeof value === "number" || typeof value === "bigint") yield* numberProblems(schema, value, body);
  if (Array.isArray(value)) yield* elementProblems(schema, value, at);
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) {
    yield broken(at, `supported values: ${schema.enum.map((one) => JSON.stringify(String(one))).join(", ")}`);
  }
  if (isRecord(value)) yield* memberProblems(schema, value, at);
}

/** What is wrong with the whole of it has no field in the original, and so goes by the object's kind. */
function* allOfProblems(schemas: readonly unknown[], value: unknown, at: string): Generator<Problem> {
  const found = schemas.map((each) => [...limitProblems(inner(each) ?? {}, value, at)]);
  yield* found.flat();
  const failed = found.filter((problems) => problems.length > 0).length;
  if (failed === 0) return;
  const none = failed === schemas.length ? ". None validated" : "";
  const reason = `${JSON.stringify(at)} must validate all the schemas (allOf)${none}`;
  yield { field: at, rule: reason, name: "", reason };
}

function* elementProblems(schema: CrdSchema, value: readonly unknown[], at: string): Generator<Problem> {
  const { maxItems, minItems } = schema;
  // No deeper than the schema: what nobody describes may be nested beyond measure.
  const element = inner(schema.items);
  if (element !== undefined) {
    for (const [index, one] of value.entries()) yield* limitProblems(element, one, `${at}[${index}]`);
  }
  if (typeof minItems === "number" && value.length < minItems)
    yield broken(at, `${at} in body should have at least ${minItems} items`);
  if (typeof maxItems === "number" && value.length > maxItems) yield broken(at, atMost(maxItems));
}

function* textProblems(schema: CrdSchema, value: string, at: string): Generator<Problem> {
  const body = (rule: string) => broken(at, `${at} in body ${rule}`);
  const limit = firstLimit(schema, value, at);
  if (limit !== undefined) yield limit;
  if (schema.format === "cidr" && parseCidr(value) === undefined)
    yield body(`must be of type cidr: ${JSON.stringify(value)}`);
}

/** The first is told: a text that is too long is not compared with a pattern. */
function firstLimit({ maxLength, minLength, pattern }: CrdSchema, value: string, at: string): Problem | undefined {
  const characters = [...value].length;
  if (typeof maxLength === "number" && characters > maxLength)
    return broken(at, `may not be more than ${maxLength} bytes`);
  if (typeof minLength === "number" && characters < minLength)
    return broken(at, `${at} in body should be at least ${minLength} chars long`);
  if (typeof pattern === "string" && !asRegExp(pattern).test(value))
    return broken(at, `${at} in body should match '${pattern}'`);
  return undefined;
}

/** Go's way of ignoring case, at the start of the pattern, is a flag here. */
function asRegExp(pattern: string): RegExp {
  const bare = pattern.replace("(?i)", "");
  return new RegExp(bare, bare === pattern ? "" : "i");
}

function* numberProblems(
  { minimum, maximum }: CrdSchema,
  value: number | bigint,
  body: (rule: string) => Problem,
): Generator<Problem> {
  if (typeof minimum === "number" && value < minimum) yield body(`should be greater than or equal to ${minimum}`);
  if (typeof maximum === "number" && value > maximum) yield body(`should be less than or equal to ${maximum}`);
}

function* memberProblems(schema: CrdSchema, value: JsonRecord, at: string): Generator<Problem> {
  const below = (name: string) => (at === "" ? name : `${at}.${name}`);
  const count = Object.keys(value).length;
  const { minProperties, maxProperties } = schema;
  if (typeof minProperties === "number" && count < minProperties) {
    yield broken(at, `${at} in body should have at least ${minProperties} properties`);
  }
  if (typeof maxProperties === "number" && count > maxProperties) {
    yield broken(at, atMost(maxProperties));
  }
  const element = inner(schema.additionalProperties);
  if (element !== undefined) {
    for (const [name, member] of Object.entries(value)) yield* limitProblems(element, member, below(name));
  }
  for (const [name, member] of Object.entries(membersOf(schema)))
    yield* limitProblems(member, value[name], below(name));
  for (const name of Array.isArray(schema.required) ? schema.required.map(String) : []) {
    // The original names the field and says no more.
    if (value[name] === undefined) yield { field: below(name), rule: "must be given", name: below(name), reason: "" };
  }
}

type Versions = { readonly value: unknown; readonly previous: unknown };
type CelRule = { readonly rule: string; readonly message: string };

function* ruleProblems(schema: CrdSchema, { value, previous }: Versions, at: string): Generator<Problem> {
  if (value === undefined || value === null) return;
  const rules = (schema["x-kubernetes-validations"] ?? []) as readonly CelRule[]; // parts/cel.ts makes them
  for (const { rule, message } of rules) {
    // A rule about change has nothing to say of what is new.
    if (rule.includes("oldSelf") && previous === undefined) continue;
    const why = whyBroken(rule, value, previous);
    if (why !== undefined) yield broken(at, why === "" ? message : `${why} evaluating rule: ${message}`);
  }
  if (Array.isArray(value)) {
    const element = inner(schema.items);
    if (element === undefined) return;
    // Lists here are atomic or sets: which element was which before is not known.
    for (const [index, one] of value.entries()) {
      yield* ruleProblems(element, { value: one, previous: undefined }, `${at}[${index}]`);
    }
  } else if (isRecord(value)) {
    for (const [name, member] of Object.entries(membersOf(schema))) {
      const before = isRecord(previous) ? previous[name] : undefined;
      yield* ruleProblems(member, { value: value[name], previous: before }, at === "" ? name : `${at}.${name}`);
    }
  }
}
