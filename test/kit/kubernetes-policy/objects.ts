// The part of Kubernetes' policy objects that its oracle and its random clusters speak of, and the cluster that they are about.
export type LabelSelector = {
  readonly matchLabels?: { readonly [name: string]: string };
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    readonly values?: readonly string[];
  }[];
};

export type Labels = { readonly [name: string]: string };
type Protocol = "TCP" | "UDP" | "SCTP";

export type PolicyPeer = {
  readonly podSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
};
export type PolicyPort = {
  readonly protocol?: Protocol;
  readonly port?: number | string;
  readonly endPort?: number;
};
export type NetworkPolicy = {
  readonly namespace: string;
  readonly name: string;
  readonly spec: {
    readonly podSelector: LabelSelector;
    readonly policyTypes?: readonly ("Ingress" | "Egress")[];
    readonly ingress?: readonly { readonly from?: readonly PolicyPeer[]; readonly ports?: readonly PolicyPort[] }[];
    readonly egress?: readonly { readonly to?: readonly PolicyPeer[]; readonly ports?: readonly PolicyPort[] }[];
  };
};

type PodsOf = { readonly namespaceSelector: LabelSelector; readonly podSelector: LabelSelector };
type Destination = {
  readonly destinationPort?: {
    readonly number?: number;
    readonly range?: { readonly start: number; readonly end: number };
  };
};
export type ClusterPeer = {
  readonly namespaces?: LabelSelector;
  readonly pods?: PodsOf;
  readonly networks?: readonly string[];
};
export type ClusterProtocol = {
  readonly tcp?: Destination;
  readonly udp?: Destination;
  readonly sctp?: Destination;
  readonly destinationNamedPort?: string;
};
export type ClusterRule = {
  readonly action: "Accept" | "Deny" | "Pass";
  readonly from?: readonly ClusterPeer[];
  readonly to?: readonly ClusterPeer[];
  readonly protocols?: readonly ClusterProtocol[];
};
export type ClusterNetworkPolicy = {
  readonly name: string;
  readonly spec: {
    readonly tier: "Admin" | "Baseline";
    readonly priority: number;
    readonly subject: { readonly namespaces?: LabelSelector; readonly pods?: PodsOf };
    readonly ingress?: readonly ClusterRule[];
    readonly egress?: readonly ClusterRule[];
  };
};

export type OraclePod = {
  readonly namespace: string;
  readonly name: string;
  readonly ips: readonly string[];
  readonly labels: Labels;
  readonly ports: readonly { readonly name: string; readonly port: number; readonly protocol: string }[];
};

export type OracleCluster = {
  /** Labels by namespace, with the one of its name. */
  readonly namespaces: { readonly [name: string]: Labels };
  readonly pods: readonly OraclePod[];
  readonly networkPolicies: readonly NetworkPolicy[];
  readonly clusterPolicies: readonly ClusterNetworkPolicy[];
};

/** One end of a connection: a pod, or an address that is no pod's. */
export type OracleEnd = { readonly pod: OraclePod | undefined; readonly address: string };
export type OracleConnection = {
  readonly source: OracleEnd;
  readonly destination: OracleEnd;
  readonly protocol: "TCP" | "UDP" | "SCTP" | "ICMP";
  /** 0 for ICMP. */
  readonly port: number;
};
