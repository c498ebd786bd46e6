// Kubernetes' NetworkPolicy. Its staged twin of Calico's (staged-kubernetes-network-policy.ts) has the same fields.
import {
  int32,
  integer,
  kept,
  lazy,
  list,
  optional,
  required,
  type SchemaType,
  struct,
  text,
} from "../../model/index.ts";
import { servedKind } from "../kind.ts";
import { intOrText } from "../parts/int-or-text.ts";
import { labelSelector } from "../parts/label-selector.ts";

const atomic = { "x-kubernetes-list-type": "atomic" };

const policyPort = lazy(() =>
  struct({
    protocol: optional(text()),
    port: optional(intOrText),
    endPort: optional(integer(int32, { format: "int32" })),
  }),
);
const peer = lazy(() =>
  struct({
    podSelector: labelSelector,
    namespaceSelector: labelSelector,
    ipBlock: struct({ cidr: required(kept(text())), except: list(text(), atomic) }),
  }),
);

export const kubernetesNetworkPolicyFields = () => ({
  podSelector: labelSelector,
  ingress: list(struct({ ports: list(policyPort, atomic), from: list(peer, atomic) }), atomic),
  egress: list(struct({ ports: list(policyPort, atomic), to: list(peer, atomic) }), atomic),
  policyTypes: list(text(), { minItems: 1, maxItems: 2, "x-kubernetes-list-type": "set" }),
});

export const kubernetesNetworkPolicySpec = lazy(() => struct(kubernetesNetworkPolicyFields()));
export type KubernetesNetworkPolicySpec = SchemaType<typeof kubernetesNetworkPolicySpec>;

export const kubernetesNetworkPolicy = servedKind("networking.k8s.io/v1/networkpolicies", "namespaced", {
  carries: "enforcement",
  kindName: "NetworkPolicy", // Calico has a NetworkPolicy, too
  schema: { spec: kubernetesNetworkPolicySpec },
});
