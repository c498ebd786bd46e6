// Which namespace an object goes to, and which combinations are refused.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { ApiKind } from "../../../../calico/resources/index.ts";
import { type InNamespace, namespaceOf } from "./place.ts";

const inside = (namespace: string): InNamespace => ({ is: "namespace", namespace });
const refused = (why: string): InNamespace => ({ is: "refused", why });

const rows: {
  name: string;
  kind?: ApiKind;
  object?: { namespace?: string; name?: string };
  n?: string;
  A?: boolean;
  is: InNamespace;
}[] = [
  { name: "without a word it is default", is: inside("default") },
  { name: "-n names it", n: "prod", is: inside("prod") },
  { name: "the object names it", object: { namespace: "prod" }, is: inside("prod") },
  { name: "both name the same", object: { namespace: "prod" }, n: "prod", is: inside("prod") },
  {
    name: "both name another",
    object: { namespace: "prod" },
    n: "test",
    is: refused("resource namespace does not match client namespace. prod != test"),
  },
  { name: "-A is all of them", A: true, is: { is: "all" } },
  {
    name: "-A and a name",
    A: true,
    object: { name: "web" },
    is: refused("cannot use --all-namespace flag for getting a single resource"),
  },
  {
    name: "-A, and the object says where it is",
    A: true,
    object: { namespace: "prod", name: "web" },
    is: refused("cannot use --all-namespace flag for getting a single resource"),
  },
  {
    name: "-A and -n",
    A: true,
    n: "prod",
    is: refused("cannot use both --namespace and --all-namespaces flags at the same time"),
  },
  { name: "a kind without namespaces", kind: "IPPool", is: inside("") },
  { name: "a kind without namespaces, and -n", kind: "IPPool", n: "prod", is: refused("IPPool is not namespaced") },
  { name: "a kind without namespaces, and -A", kind: "IPPool", A: true, is: refused("IPPool is not namespaced") },
  {
    name: "a kind without namespaces that has one",
    kind: "IPPool",
    object: { namespace: "prod" },
    is: refused("namespace should not be specified for a non-namespaced resource. IPPool is not a namespaced resource"),
  },
];
for (const { name, kind = "NetworkPolicy", object = {}, n = "", A = false, is } of rows) {
  test(`namespace: ${name}`, () => deepEqual(namespaceOf(kind, object, { namespace: n, isEverywhere: A }), is));
}
