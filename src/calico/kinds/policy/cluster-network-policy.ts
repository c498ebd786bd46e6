// ClusterNetworkPolicy of policy.networking.k8s.io/v1alpha2, as far as it is looked at.
import { int32, integer, lazy, list, type SchemaType, struct, text } from "../../model/index.ts";
import { servedKind } from "../kind.ts";
import { labelSelector } from "../parts/label-selector.ts";

const pods = lazy(() => struct({ namespaceSelector: labelSelector, podSelector: labelSelector }));
const destination = lazy(() =>
  struct({
    destinationPort: struct({
      number: integer(int32),
      range: struct({ start: integer(int32), end: integer(int32) }),
    }),
  }),
);
const protocols = lazy(() =>
  list(struct({ tcp: destination, udp: destination, sctp: destination, destinationNamedPort: text() })),
);
const ingressPeer = lazy(() => struct({ namespaces: labelSelector, pods }));
const egressPeer = lazy(() => struct({ namespaces: labelSelector, pods, networks: list(text()) }));

export const clusterNetworkPolicySpec = lazy(() =>
  struct({
    tier: text(),
    priority: integer(int32),
    subject: struct({ namespaces: labelSelector, pods }),
    ingress: list(struct({ name: text(), action: text(), from: list(ingressPeer), protocols })),
    egress: list(struct({ name: text(), action: text(), to: list(egressPeer), protocols })),
  }),
);
export type ClusterNetworkPolicySpec = SchemaType<typeof clusterNetworkPolicySpec>;

export const clusterNetworkPolicy = servedKind("policy.networking.k8s.io/v1alpha2/clusternetworkpolicies", "cluster", {
  carries: "enforcement",
  schema: { spec: clusterNetworkPolicySpec },
});
