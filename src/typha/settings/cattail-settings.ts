// The settings that the original does not have, and those of its generic datastore loader, which tries each variable
// with CALICO_ in front first.

import {
  authorities,
  bool,
  choice,
  countOrAuto,
  existingFolder,
  float,
  goBool,
  hostAddress,
  integer,
  parametersWith,
  proxyUrl,
  seconds,
  string,
  variable,
} from "../../base/config/index.ts";
import { prefix } from "./original-settings.ts";

const parameter = parametersWith(prefix);

export const datastoreSettings = {
  datastoreType: parameter("datastore", "DatastoreType", {
    type: choice("etcdv3", "kubernetes", "etcdv3", "directory", "memory"),
    default: "etcdv3",
    nonZero: true,
    says: "Type of the datastore. `directory` and `memory` exist in Cattail only.",
  }),
  datastoreDirectory: parameter("datastore", "DatastoreDirectory", {
    type: existingFolder,
    default: "",
    says: "Folder of YAML or JSON files for the datastore type `directory` (Cattail only).",
  }),
  etcdUsername: parameter("datastore", "EtcdUsername", {
    type: string,
    default: "",
    says: "User name for etcd (Cattail only).",
  }),
  etcdPassword: parameter("datastore", "EtcdPassword", {
    type: string,
    default: "",
    says: "Password for etcd (Cattail only).",
  }),
} as const;

export const cattailSettings = {
  workers: parameter("cattail", "Workers", {
    type: countOrAuto({ min: 0, max: 64 }),
    default: "auto",
    says: "Number of threads that serve clients. auto means one for each core but one, at least 1 and at most 8; 0 means that the main thread serves them.",
  }),
  logFormat: parameter("cattail", "LogFormat", {
    type: choice("original", "original", "json"),
    default: "original",
    says: "Format of log lines.",
  }),
  staleServerTimeoutMs: parameter("cattail", "StaleServerTimeoutSecs", {
    type: seconds,
    default: 60_000,
    whenNotPositive: 60_000,
    says: "How long the datastore may be unreachable before clients are moved to a healthy server.",
  }),
  peerAddresses: parameter("cattail", "PeerAddresses", {
    type: authorities,
    default: [],
    says: "Addresses of the other servers of this cluster, if no Kubernetes Service lists them.",
  }),
  closeExpiredClients: parameter("cattail", "CloseExpiredClients", {
    type: bool,
    default: false,
    says: "Close a connection when its client certificate expires or its CA is no longer trusted.",
  }),
  dashboardEnabled: parameter("cattail", "DashboardEnabled", {
    type: bool,
    default: false,
    says: "Serve the dashboard.",
  }),
  dashboardHost: parameter("cattail", "DashboardHost", {
    type: hostAddress,
    default: "localhost",
    says: "Address of the dashboard.",
  }),
  dashboardPort: parameter("cattail", "DashboardPort", {
    type: integer({ min: 0, max: 65535 }),
    default: 9095,
    says: "Port of the dashboard.",
  }),
  nodeReportPort: parameter("cattail", "NodeReportPort", {
    type: integer({ min: 0, max: 65535 }),
    default: 0,
    says: "Port at which the agents of nodes answer how they are (their FELIX_REPORTPORT, usually 9096), for the dashboard. 0 means that they are not asked.",
  }),
} as const;

const either = (name: string): string[] => [`CALICO_${name}`, name];
const text = (name: string, says: string) =>
  variable("kubernetes", either(name), { type: string, default: "", says, emptyCounts: true });
const flag = (name: string, says: string) =>
  variable("kubernetes", either(name), { type: goBool, default: false, says, emptyCounts: true });

// As Go's programs read them; an empty one is as good as none.
const eitherCase = (name: string): string[] => [name, name.toLowerCase()];
const proxy = (name: string, says: string) =>
  variable("kubernetes", eitherCase(name), { type: proxyUrl, default: "", says });

export const kubernetesSettings = {
  kubeconfig: text(
    "KUBECONFIG",
    "Kubeconfig file; unset means ~/.kube/config if it exists, otherwise the service account of the pod.",
  ),
  k8sApiEndpoint: text("K8S_API_ENDPOINT", "URL of the API server, instead of a kubeconfig."),
  k8sKeyFile: text("K8S_KEY_FILE", "Private key for the API server."),
  k8sCertFile: text("K8S_CERT_FILE", "Certificate for the API server."),
  k8sCaFile: text("K8S_CA_FILE", "CA certificates that the API server's certificate must chain to."),
  k8sCurrentContext: text("K8S_CURRENT_CONTEXT", "Context of the kubeconfig to use."),
  k8sApiToken: variable("kubernetes", ["CALICO_K8SAPITOKEN"], {
    type: string,
    default: "",
    says: "Bearer token for the API server.",
    emptyCounts: true,
  }),
  k8sInsecureSkipTlsVerify: flag("K8S_INSECURE_SKIP_TLS_VERIFY", "Do not check the API server's certificate."),
  k8sDisableNodePoll: flag("K8S_DISABLE_NODE_POLL", "Accepted for compatibility; nodes are watched, never polled."),
  usePodCidr: flag("USE_POD_CIDR", "Use the podCIDR of a node as its address block (host-local IPAM)."),
  k8sClientQps: variable("kubernetes", either("K8S_CLIENT_QPS"), {
    type: float,
    default: 0,
    says: "Average number of requests to the API server a second. 0 means 5; a negative number means no limit.",
    emptyCounts: true,
  }),
  k8sClientBurst: variable("kubernetes", either("K8S_CLIENT_BURST"), {
    type: integer({ min: -(2 ** 31) }),
    default: 0,
    says: "Number of requests to the API server that may start at once; 0 means 100.",
    emptyCounts: true,
  }),
  httpsProxy: proxy("HTTPS_PROXY", "Proxy for an HTTPS API server; a proxy in the kubeconfig has priority."),
  httpProxy: proxy("HTTP_PROXY", "Proxy for an HTTP API server."),
  noProxy: variable("kubernetes", eitherCase("NO_PROXY"), {
    type: string,
    default: "",
    says: "API servers to reach without the proxy: names, domains, addresses and ranges, separated by commas.",
  }),
  calicoApiGroup: text("CALICO_API_GROUP", "API group of Calico's resources; unset means that it is detected."),
} as const;
