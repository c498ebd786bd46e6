// How to reach an API server, with the variable that usually says it, and the bounds on what it may make us keep. Nothing
// in this room reads the environment but the two variables that Kubernetes itself sets in a pod.
export type KubeSettings = {
  /** KUBECONFIG: a file, or several separated as PATH is. Empty: the API endpoint, ~/.kube/config, or in-cluster. */
  readonly kubeconfig?: string;
  /** The text of a kubeconfig, in the place of any file. */
  readonly kubeconfigInline?: string;
  /** K8S_API_ENDPOINT and the files and names that replace what the kubeconfig says. */
  readonly apiEndpoint?: string;
  readonly keyFile?: string;
  readonly certFile?: string;
  readonly caFile?: string;
  readonly currentContext?: string;
  readonly apiToken?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** K8S_CLIENT_QPS, K8S_CLIENT_BURST: requests a second that are started on average, without limit below 0; and at once. */
  readonly clientQps?: number;
  readonly clientBurst?: number;
  /** A read that the server asks to repeat later (429) is repeated so often, after the time it names. Not given: never. */
  readonly readsAgain?: number;
  /** A kubeconfig can name a program to run and a proxy to trust. Both only when asked for. */
  readonly allowExec?: boolean;
  readonly allowProxy?: boolean;
  /** HTTPS_PROXY, HTTP_PROXY, NO_PROXY. Whoever sets them has asked for them; the kubeconfig's own proxy comes first. */
  readonly httpsProxy?: string;
  readonly httpProxy?: string;
  readonly noProxy?: string;
  /** In front of /var/run/secrets/kubernetes.io/serviceaccount; for tests. */
  readonly serviceAccountRoot?: string;
};

export const defaultClientQps = 5;
export const defaultClientBurst = 100;

/** The bounds on what a server may make us keep. */
export const kubeLimits = {
  pageItems: 500,
  /** Of a streamed list, handed on together. Few enough to die young: 500 cost 200 MB more (bench/datastore). */
  streamedItems: 64,
  /** One page of a list, one answer to a write. */
  answerBytes: 256 << 20,
  /** One event of a watch: an object is at most 1.5 MB in etcd, more as JSON, twice with its managed fields. */
  lineBytes: 32 << 20,
  /** The text of an error. */
  errorBytes: 64 << 10,
  /** Until the headers of an answer are there. */
  answerMs: 60_000,
  /** A server that asks us to come back later is waited for at most so long; one that does not say when, so long. */
  comeBackMs: 10_000,
  comeBackUnsaidMs: 1_000,
  /** Without a byte of a page; a watch may be quiet for longer, its follower looks after that. */
  pageSilenceMs: 60_000,
  /** Credentials in files are read again this often, and after every 401. */
  credentialsMs: 60_000,
  /** What discovery said is believed for so long. */
  discoveryMs: 5_000,
  /** A server that does not stream lists is asked again after this long: it may have been upgraded. */
  streamedListRetryMs: 3_600_000,
  /** So many streams of a kind in a row that break off before their list is complete, and the kind is read in pages. */
  brokenStreamsBeforePages: 2,
  sockets: 256,
} as const;
