// What an installation may choose; everything else about the manifests is decided here once.
import type { CalicoGroup } from "../../calico/kinds/index.ts";

export type InstallOptions = {
  readonly namespace: string;
  readonly name: string;
  /** Behind which Service the servers stand. Where it is not `name`, it is there already, for other servers too. */
  readonly service: string;
  readonly image: string;
  /** Whom the server runs as. Where it is not `name`, it is somebody's already and is not made. */
  readonly serviceAccount: string;
  readonly replicas: number;
  /** How large the cluster is. Undefined: nobody said, so the servers get no limit that they could meet. */
  readonly nodes: number | undefined;
  /** Which of Calico's API groups the cluster's custom resources live in. */
  readonly apiGroup: CalicoGroup;
  readonly certificates: CertificateSource;
  /** The common name that client certificates must carry. */
  readonly clientCn: string;
  readonly port: number;
  readonly healthPort: number;
  readonly metricsPort: number | undefined;
  readonly shutdownTimeoutSeconds: number;
};

/** What the agent's DaemonSet may choose. */
export type NodeInstallOptions = {
  readonly namespace: string;
  readonly nodeImage: string;
  /** Of the init container that installs the plugin; ours is the same image. */
  readonly cniImage: string;
  readonly backend: "bird" | "vxlan" | "none";
  readonly apiGroup: CalicoGroup;
  /** Undefined: nodes watch the API server themselves. */
  readonly typhaService: string | undefined;
  /** The common name that Typha's certificate must carry. */
  readonly typhaCn: string;
  /** The node's own. */
  readonly certificates: CertificateSource;
};

export type CertificateSource =
  | {
      readonly from: "secret";
      readonly secret: string;
      readonly caConfigMap: string;
      /** Their keys, where they are not called as `cattail certs` calls the files. */
      readonly keys?: { readonly certificate: string; readonly key: string; readonly authority: string };
    }
  /** Files that something else (puppet, ansible) keeps on every node, in one directory. */
  | { readonly from: "host"; readonly directory: string }
  /** Without TLS, where the servers beside these have none: nodes speak one way to all. */
  | { readonly from: "nowhere" };

export const defaultInstallOptions: InstallOptions = {
  namespace: "kube-system",
  name: "calico-typha",
  service: "calico-typha",
  image: "", // there is none to pull: whoever installs names the one they have built
  serviceAccount: "calico-typha",
  replicas: 3,
  nodes: undefined,
  apiGroup: "crd.projectcalico.org",
  certificates: { from: "secret", secret: "calico-typha-certs", caConfigMap: "calico-typha-ca" },
  clientCn: "calico-node",
  port: 5473,
  healthPort: 9098,
  metricsPort: undefined,
  shutdownTimeoutSeconds: 300,
};

export const defaultNodeOptions: NodeInstallOptions = {
  namespace: "kube-system",
  nodeImage: "",
  cniImage: "",
  backend: "bird",
  apiGroup: "crd.projectcalico.org",
  typhaService: "calico-typha",
  typhaCn: "calico-typha",
  certificates: { from: "secret", secret: "calico-node-certs", caConfigMap: "calico-typha-ca" },
};

/** In a cluster that Tigera's operator runs, what it made is used, and nothing of it is changed: docs/guide/tigera-operator.md. */
export const besideOperator = {
  namespace: "calico-system",
  name: "cattail-typha",
  service: "calico-typha",
  serviceAccount: "calico-typha",
  clientCn: "typha-client",
  certificates: {
    from: "secret",
    secret: "typha-certs",
    caConfigMap: "tigera-ca-bundle",
    keys: { certificate: "tls.crt", key: "tls.key", authority: "tigera-ca-bundle.crt" },
  },
} as const satisfies Partial<InstallOptions>;

export type Manifest = { readonly apiVersion: string; readonly kind: string; readonly [field: string]: unknown };
