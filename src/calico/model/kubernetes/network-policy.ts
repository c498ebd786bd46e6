// Kubernetes' NetworkPolicy. Its staged twin of Calico's (v3/staged-kubernetes-network-policy.ts) has the same fields.
import { int32 } from "../read-json.ts";
import { integer, kept, list, optional, required, type SchemaType, struct, text } from "../schema.ts";
import { intOrText } from "./int-or-text.ts";
import { labelSelector } from "./label-selector.ts";

const atomic = { "x-kubernetes-list-type": "atomic" };

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

export const kubernetesNetworkPolicyFields = {
  podSelector: labelSelector,
  ingress: list(struct({ ports: list(policyPort, atomic), from: list(peer, atomic) }), atomic),
  egress: list(struct({ ports: list(policyPort, atomic), to: list(peer, atomic) }), atomic),
  policyTypes: list(text(), { minItems: 1, maxItems: 2, "x-kubernetes-list-type": "set" }),
};

export const kubernetesNetworkPolicySpec = struct(kubernetesNetworkPolicyFields);
export type KubernetesNetworkPolicySpec = SchemaType<typeof kubernetesNetworkPolicySpec>;
