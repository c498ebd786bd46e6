import { deepEqual, doesNotThrow, equal, ok } from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { calicoKind } from "../calico-kinds.ts";
import { kindInfo, kindNames } from "../kinds.ts";
import { objectMeta } from "../object-meta.ts";
import { cleanJson, isRecord, member } from "../read-json.ts";
import { type CrdSchema, readSchema, type Schema } from "../schema.ts";
import { crdManifest, crdSchema, type V3Kind, type V3KindName, v3KindNames, v3Schemas } from "./crds.ts";

test("every kind that Calico defines and the syncers read has a schema, and a row in both tables under its own name", () => {
  for (const kind of kindNames) {
    const { kubernetes, namespaced } = kindInfo(kind);
    if (kubernetes?.group !== "calico") continue;
    ok(kind in v3Schemas, kind);
    deepEqual({ plural: kubernetes.plural, namespaced }, calicoKind(kind as V3KindName)); // as just seen
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

for (const kind of v3KindNames) {
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
      if (!object.startsWith("crd.projectcalico.org/") || !(kind in v3Schemas) || answer?.rejected !== undefined)
        continue;
      const { spec, status }: V3Kind = v3Schemas[kind as V3KindName]; // a key of the table, as just seen
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
