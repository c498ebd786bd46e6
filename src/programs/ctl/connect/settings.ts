// How ctl is told where the datastore is: the fields of calicoctl.cfg and the variables that say the same. One table; the
// reader of files, the reader of the environment and docs/reference/ctl.md are loops over it.

export type Setting = {
  /** In the file, below `spec`. */
  readonly field: string;
  /** Also read with CALICO_ in front, which then wins. */
  readonly variable?: string;
  readonly is?: "bool" | "number";
  readonly says: string;
};

export const settings = [
  {
    field: "datastoreType",
    variable: "DATASTORE_TYPE",
    says: "kubernetes, etcdv3 or directory; without it etcdv3 where endpoints are named, directory where a folder is, else kubernetes",
  },
  {
    field: "datastoreDirectory",
    variable: "DATASTORE_DIRECTORY",
    says: "the folder of the datastore type directory (Cattail only)",
  },
  {
    field: "kubeconfig",
    variable: "KUBECONFIG",
    says: "a kubeconfig, or several separated by colons; without it ~/.kube/config, else the pod's service account",
  },
  { field: "kubeconfigInline", says: "the text of a kubeconfig, before all others" },
  {
    field: "k8sAPIEndpoint",
    variable: "K8S_API_ENDPOINT",
    says: "the API server; this and the next four are used instead of what the kubeconfig says",
  },
  { field: "k8sKeyFile", variable: "K8S_KEY_FILE", says: "the client's key" },
  { field: "k8sCertFile", variable: "K8S_CERT_FILE", says: "the client's certificate" },
  { field: "k8sCAFile", variable: "K8S_CA_FILE", says: "the CA of the API server" },
  {
    field: "k8sInsecureSkipTLSVerify",
    variable: "K8S_INSECURE_SKIP_TLS_VERIFY",
    is: "bool",
    says: "true: take any certificate from the API server",
  },
  { field: "k8sAPIToken", variable: "CALICO_K8SAPITOKEN", says: "a bearer token, instead of the kubeconfig's user" },
  {
    field: "k8sCurrentContext",
    variable: "K8S_CURRENT_CONTEXT",
    says: "the context of the kubeconfig; --context comes first",
  },
  {
    field: "k8sClientQPS",
    variable: "K8S_CLIENT_QPS",
    is: "number",
    says: "most requests a second; without it as fast as the server answers",
  },
  { field: "k8sClientBurst", variable: "K8S_CLIENT_BURST", is: "number", says: "so many requests before that limit" },
  { field: "k8sDisableNodePoll", variable: "K8S_DISABLE_NODE_POLL", is: "bool", says: "taken, and not needed" },
  {
    field: "usePodCIDR",
    variable: "USE_POD_CIDR",
    is: "bool",
    says: "true: addresses come from the nodes' podCIDR (host-local IPAM)",
  },
  {
    field: "calicoAPIGroup",
    variable: "CALICO_API_GROUP",
    says: "projectcalico.org/v3 where the custom resources are of that group; without it the server is asked",
  },
  { field: "etcdEndpoints", variable: "ETCD_ENDPOINTS", says: "URLs, separated by commas" },
  { field: "etcdDiscoverySrv", variable: "ETCD_DISCOVERY_SRV", says: "a domain whose SRV records name the endpoints" },
  { field: "etcdUsername", variable: "ETCD_USERNAME", says: "used when there is a password, too" },
  { field: "etcdPassword", variable: "ETCD_PASSWORD", says: "used when there is a user name, too" },
  { field: "etcdKeyFile", variable: "ETCD_KEY_FILE", says: "the client's key" },
  { field: "etcdCertFile", variable: "ETCD_CERT_FILE", says: "the client's certificate" },
  { field: "etcdCACertFile", variable: "ETCD_CA_CERT_FILE", says: "etcd's CA" },
  { field: "etcdKey", says: "the client's key itself" },
  { field: "etcdCert", says: "the client's certificate itself" },
  { field: "etcdCACert", says: "etcd's CA itself" },
] as const satisfies readonly Setting[];

export type SettingName = (typeof settings)[number]["field"];

/** What was said; a setting that was not, or is empty, is not there. */
export type ClientConfig = { readonly [name in SettingName]?: string };

/** What is wrong with them; ends the command, behind the words that its command has for that. */
export class ConfigProblem extends Error {
  /** Nothing is wrong with what was said, but no client of Kubernetes comes of it: there is no kubeconfig, or no such context. */
  readonly isOfKubernetes: boolean;
  constructor(message: string, options: ErrorOptions & { readonly isOfKubernetes?: boolean } = {}) {
    super(message, options);
    this.name = "ConfigProblem";
    this.isOfKubernetes = options.isOfKubernetes ?? false;
  }
}
