// What an installation may choose; everything else about the manifests is decided here once.
import type { CalicoGroup } from "../../calico/kinds/index.ts";

export type InstallOptions = {
  readonly namespace: string;
  readonly name: string;
  readonly image: string;
  /** Whom the server runs as. Where it is not `name`, it is somebody's already and is not made. */
  readonly serviceAccount: string;
  readonly replicas: number;
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

export type CertificateSource =
  | { readonly from: "secret"; readonly secret: string; readonly caConfigMap: string }
  /** Files that something else (puppet, ansible) keeps on every node, in one directory. */
  | { readonly from: "host"; readonly directory: string };

export const defaultInstallOptions: InstallOptions = {
  namespace: "kube-system",
  name: "calico-typha",
  image: "", // there is none to pull: whoever installs names the one they have built
  serviceAccount: "calico-typha",
  replicas: 3,
  apiGroup: "crd.projectcalico.org",
  certificates: { from: "secret", secret: "calico-typha-certs", caConfigMap: "calico-typha-ca" },
  clientCn: "calico-node",
  port: 5473,
  healthPort: 9098,
  metricsPort: undefined,
  shutdownTimeoutSeconds: 300,
};

export type Manifest = { readonly apiVersion: string; readonly kind: string; readonly [field: string]: unknown };
