// ClusterNetworkPolicy of policy.networking.k8s.io/v1alpha2, as far as it is looked at.
import { int32 } from "../read-json.ts";
import { integer, list, type SchemaType, struct, text } from "../schema.ts";
import { labelSelector } from "./label-selector.ts";

const pods = struct({ namespaceSelector: labelSelector, podSelector: labelSelector });
const destination = struct({
  destinationPort: struct({
    number: integer(int32),
    range: struct({ start: integer(int32), end: integer(int32) }),
  }),
});
const protocols = list(struct({ tcp: destination, udp: destination, sctp: destination, destinationNamedPort: text() }));
const ingressPeer = struct({ namespaces: labelSelector, pods });
const egressPeer = struct({ namespaces: labelSelector, pods, networks: list(text()) });

export const clusterNetworkPolicySpec = struct({
  tier: text(),
  priority: integer(int32),
  subject: struct({ namespaces: labelSelector, pods }),
  ingress: list(struct({ name: text(), action: text(), from: list(ingressPeer), protocols })),
  egress: list(struct({ name: text(), action: text(), to: list(egressPeer), protocols })),
});
export type ClusterNetworkPolicySpec = SchemaType<typeof clusterNetworkPolicySpec>;
