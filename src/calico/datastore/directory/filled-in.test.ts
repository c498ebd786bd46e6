import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { withPolicyTypes } from "./filled-in.ts";

const rule = [{}];
const rows: readonly {
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: { readonly [field: string]: unknown };
  readonly types: { readonly [field: string]: unknown };
}[] = [
  ...[
    { name: "no rules", spec: {}, types: { policyTypes: ["Ingress"] } },
    { name: "ingress rules", spec: { ingress: rule }, types: { policyTypes: ["Ingress"] } },
    { name: "egress rules", spec: { egress: rule }, types: { policyTypes: ["Ingress", "Egress"] } },
    { name: "an empty list of egress rules", spec: { egress: [] }, types: { policyTypes: ["Ingress"] } },
    { name: "types of its own", spec: { policyTypes: ["Egress"], ingress: rule }, types: {} },
  ].map((row) => ({ apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", ...row })),
  ...["NetworkPolicy", "GlobalNetworkPolicy", "StagedNetworkPolicy", "StagedGlobalNetworkPolicy"].flatMap((kind) =>
    [
      { name: "no rules", spec: {}, types: { types: ["Ingress"] } },
      { name: "ingress rules", spec: { ingress: rule, types: [] }, types: { types: ["Ingress"] } },
      { name: "egress rules", spec: { egress: rule }, types: { types: ["Egress"] } },
      { name: "both", spec: { egress: rule, ingress: rule }, types: { types: ["Ingress", "Egress"] } },
      { name: "types of its own", spec: { types: ["Egress"], ingress: rule }, types: {} },
    ].map((row) => ({ apiVersion: "projectcalico.org/v3", kind, ...row })),
  ),
  {
    name: "a staged deletion",
    apiVersion: "projectcalico.org/v3",
    kind: "StagedNetworkPolicy",
    spec: { stagedAction: "Delete" },
    types: {},
  },
  { name: "as stored", apiVersion: "crd.projectcalico.org/v1", kind: "GlobalNetworkPolicy", spec: {}, types: {} },
  { name: "another kind", apiVersion: "projectcalico.org/v3", kind: "Tier", spec: {}, types: {} },
];
for (const { name, apiVersion, kind, spec, types } of rows)
  test(`directions of ${apiVersion} ${kind}: ${name}`, () => {
    const value = { apiVersion, kind, metadata: { name: "p" }, spec };
    deepEqual(withPolicyTypes(value), { ...value, spec: { ...spec, ...types } });
  });
