// StagedKubernetesNetworkPolicy: a Kubernetes NetworkPolicy's spec, staged.

import { writeGoNumber, writeGoString } from "../go-json.ts";
import { int32 } from "../read-json.ts";
import { integer, kept, list, map, optional, required, type SchemaType, scalar, struct, text } from "../schema.ts";
import { stagedAction } from "./policy-fields.ts";

const atomic = { "x-kubernetes-list-type": "atomic" };

const labelSelector = struct(
  {
    matchLabels: map(text()),
    matchExpressions: list(
      struct({ key: required(kept(text())), operator: required(kept(text())), values: list(text(), atomic) }),
      atomic,
    ),
  },
  { "x-kubernetes-map-type": "atomic" },
);

const intOrText = scalar<number | string>({
  read: (value) => {
    if (typeof value === "string") return value;
    return typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : undefined;
  },
  rule: "must be a port number or name",
  go: {
    write: (value) => (typeof value === "number" ? writeGoNumber(value) : writeGoString(value)),
    isEmpty: () => false,
    zero: "0",
  },
  crd: { anyOf: [{ type: "integer" }, { type: "string" }], "x-kubernetes-int-or-string": true },
});

const policyPort = struct({
  protocol: optional(text()),
  port: optional(intOrText),
  endPort: optional(integer(int32, { format: "int32" })),
});
const peer = struct({
  podSelector: labelSelector,
  namespaceSelector: labelSelector,
  ipBlock: struct({ cidr: required(kept(text())), except: list(text(), atomic) }),
});

export const stagedKubernetesNetworkPolicySpec = struct({
  stagedAction,
  podSelector: labelSelector,
  ingress: list(struct({ ports: list(policyPort, atomic), from: list(peer, atomic) }), atomic),
  egress: list(struct({ ports: list(policyPort, atomic), to: list(peer, atomic) }), atomic),
  policyTypes: list(text(), { minItems: 1, maxItems: 2, "x-kubernetes-list-type": "set" }),
});
export type StagedKubernetesNetworkPolicySpec = SchemaType<typeof stagedKubernetesNetworkPolicySpec>;
