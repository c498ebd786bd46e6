import { deepEqual, doesNotThrow, equal, ok } from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { isRecord } from "../../base/lib/index.ts";
import {
  type CrdSchema,
  cleanJson,
  member,
  objectMeta,
  readSchema,
  resourceKindInfo,
  type Schema,
} from "../model/index.ts";
import { crdManifest, crdSchema } from "./crds.ts";
import { customKinds, customResourceInfo, kindInfo } from "./registry.ts";

test("every kind that Calico defines has a schema, under the plural of its keys", () => {
  ok(customKinds.length > 20);
  for (const kind of customKinds) {
    const { kubernetes, schema } = kindInfo(kind);
    ok(schema !== undefined, kind);
    const key = resourceKindInfo(kind);
    if (key !== undefined) equal(kubernetes?.plural, key.plural);
  }
});

/** Kubernetes demands it of every schema ("structural"), so that unknown fields can be pruned. */
function untyped(schema: CrdSchema, path: string): string[] {
  const isTyped = schema.type !== undefined || schema["x-kubernetes-int-or-string"] === true;
  const members = Object.entries((schema.properties ?? {}) as { [name: string]: CrdSchema });
  return [
    ...(isTyped ? [] : [path]),
    ...members.flatMap(([name, member]) => untyped(member, `${path}.${name}`)),
    ...(schema.items === undefined ? [] : untyped(schema.items as CrdSchema, `${path}[]`)),
    ...(schema.additionalProperties === undefined
      ? []
      : untyped(schema.additionalProperties as CrdSchema, `${path}{}`)),
  ];
}

for (const kind of customKinds) {
  test(`the CRD of ${kind} is structural and survives JSON, in either group`, () => {
    for (const group of ["crd.projectcalico.org", "projectcalico.org"] as const) {
      deepEqual(untyped(crdSchema(kind, group), kind), []);
      const manifest = crdManifest(kind, group);
      deepEqual(JSON.parse(JSON.stringify(manifest)), manifest);
    }
  });
}

test("a CRD can be of the new group, where some kinds have other names and fields", () => {
  const { metadata, spec } = crdManifest("IPAMConfig", "projectcalico.org");
  deepEqual(metadata, { name: "ipamconfigurations.projectcalico.org" });
  deepEqual(Object(spec).names, {
    kind: "IPAMConfiguration",
    listKind: "IPAMConfigurationList",
    plural: "ipamconfigurations",
    singular: "ipamconfiguration",
    shortNames: ["ipamconfig", "ipamconfigs"],
  });
  const { deleted, node } = Object(crdSchema("BlockAffinity", "projectcalico.org")).properties.spec.properties;
  deepEqual({ deleted, node }, { deleted: { type: "boolean", default: false }, node: { type: "string" } });
});

type Observed = { object: string; answer?: { kind?: string; rejected?: string } }[];
test("the schema of each kind reads every object that an API server stored in the golden cases", () => {
  let count = 0;
  for (const file of globSync("test/vectors/golden/cases/*/observed.json")) {
    equal(existsSync(file), true);
    const text = readFileSync(file, "utf8").replaceAll("<time>", "2026-01-02T03:04:05Z");
    for (const { object, answer } of JSON.parse(text) as Observed) {
      const kind = answer?.kind ?? "";
      const known = customKinds.find((name) => name === kind);
      if (!object.startsWith("crd.projectcalico.org/") || known === undefined || answer?.rejected !== undefined)
        continue;
      const { spec, status } = customResourceInfo(known).schema;
      const read = (schema: Schema<unknown>, name: string) => {
        const whole = cleanJson(answer);
        const part = isRecord(whole) ? member(whole, name) : undefined;
        doesNotThrow(() => readSchema(schema, part ?? {}, name), `${file}: ${object}`);
      };
      read(objectMeta, "metadata");
      read(spec, "spec");
      if (status !== undefined) read(status, "status");
      count += 1;
    }
  }
  equal(count > 100, true);
});
