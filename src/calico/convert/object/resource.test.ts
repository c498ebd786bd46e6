import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { networkPolicySpec, networkSetSpec } from "../../kinds/index.ts";
import { FieldError } from "../../model/index.ts";
import { readResource } from "./resource.ts";

const uid = "30316465-6365-4463-ad63-3564622d3638";
const translated = "0c8c26a6-c6a6-44c6-adc6-ac2646b46c1c";
const old = "crd.projectcalico.org/v1";
const annotated = (inner: object) => ({ "projectcalico.org/metadata": JSON.stringify(inner) });

const cases: { name: string; kind?: string; object: object; metadata: object }[] = [
  {
    name: "the new group's metadata is taken as it is",
    object: { apiVersion: "projectcalico.org/v3", metadata: { name: "a", uid, annotations: annotated({ name: "b" }) } },
    metadata: { name: "a", uid, annotations: annotated({ name: "b" }) },
  },
  {
    name: "the old group's UID is translated, the rest stays",
    object: { apiVersion: old, metadata: { name: "default.a", uid, generation: 3, labels: { a: "b" } } },
    metadata: { name: "default.a", uid: translated, generation: 3, labels: { a: "b" } },
  },
  {
    name: "the annotation's metadata is laid over the CR's",
    object: {
      apiVersion: old,
      metadata: {
        name: "default.foo",
        namespace: "shop",
        resourceVersion: "9",
        uid,
        generation: 3,
        creationTimestamp: "2026-01-01T00:00:00Z",
        labels: { a: "cr", b: "cr" },
        annotations: { own: "x", ...annotated({ labels: { a: "inner" }, annotations: { more: "y" }, generation: 7 }) },
      },
    },
    metadata: {
      name: "foo",
      namespace: "shop",
      resourceVersion: "9",
      uid: translated,
      generation: 7,
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { a: "inner", b: "cr" },
      annotations: { own: "x", more: "y" },
    },
  },
  {
    name: "the annotation's name wins",
    object: { apiVersion: old, metadata: { name: "default.foo", annotations: annotated({ name: "bar" }) } },
    metadata: { name: "bar", uid: "", annotations: {} },
  },
  {
    name: "a policy of another tier keeps its prefix",
    object: { apiVersion: old, metadata: { name: "default.foo", annotations: annotated({}) }, spec: { tier: "sec" } },
    metadata: { name: "default.foo", uid: "", annotations: {} },
  },
  {
    name: "other kinds keep their prefix",
    kind: "NetworkSet",
    object: { apiVersion: old, metadata: { name: "default.foo", annotations: annotated({}) } },
    metadata: { name: "default.foo", uid: "", annotations: {} },
  },
  {
    name: "Calico's owners are translated, others are not",
    object: {
      apiVersion: old,
      metadata: {
        name: "a",
        annotations: annotated({
          ownerReferences: [
            { apiVersion: old, kind: "Tier", name: "t", uid },
            { apiVersion: "v1", kind: "Pod", name: "p", uid },
          ],
        }),
      },
    },
    metadata: {
      name: "a",
      uid: "",
      annotations: {},
      ownerReferences: [
        { apiVersion: "projectcalico.org/v3", kind: "Tier", name: "t", uid: translated },
        { apiVersion: "v1", kind: "Pod", name: "p", uid },
      ],
    },
  },
];
for (const { name, kind = "NetworkPolicy", object, metadata } of cases) {
  test(name, () => {
    const read =
      kind === "NetworkSet"
        ? readResource(kind, networkSetSpec, object)
        : readResource(kind, networkPolicySpec, object);
    const given = Object.fromEntries(Object.entries(read.metadata).filter(([, value]) => value !== undefined));
    deepEqual(given, metadata);
  });
}

const unreadable: [string, object, string][] = [
  ["a UID that is none", { apiVersion: old, metadata: { uid: "x" } }, "metadata.uid"],
  [
    "an annotation that is not JSON",
    { apiVersion: old, metadata: { annotations: { "projectcalico.org/metadata": "{" } } },
    'metadata.annotations["projectcalico.org/metadata"]',
  ],
  [
    "an annotation of the wrong shape",
    { apiVersion: old, metadata: { annotations: annotated({ labels: [1] }) } },
    'metadata.annotations["projectcalico.org/metadata"]',
  ],
  ["a list for a spec", { spec: [] }, "spec"],
  ["a number for a label", { metadata: { labels: { a: 1 } } }, "metadata.labels.a"],
];
for (const [name, object, field] of unreadable) {
  test(`unreadable: ${name}`, () =>
    throws(
      () => readResource("NetworkPolicy", networkPolicySpec, object),
      (error) => error instanceof FieldError && error.field === field,
    ));
}
