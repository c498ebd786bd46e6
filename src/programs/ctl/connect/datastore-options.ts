// From what was said about the datastore to how it is opened. Refusals in the original's words.
import type { DatastoreOptions } from "../../../calico/datastore/index.ts";
import { type ClientConfig, ConfigProblem } from "./settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export type Asked = {
  readonly config: ClientConfig;
  /** --context */
  readonly context?: string | undefined;
  /** For the variables that are about proxies. */
  readonly env: Environment;
};

const types = ["kubernetes", "etcdv3", "directory"] as const;
type Type = (typeof types)[number];

function datastoreTypeOf({ datastoreType, etcdEndpoints, datastoreDirectory }: ClientConfig): Type {
  if (datastoreType === undefined)
    return etcdEndpoints !== undefined ? "etcdv3" : datastoreDirectory !== undefined ? "directory" : "kubernetes";
  const found = types.find((type) => type === datastoreType);
  if (found === undefined) throw new ConfigProblem(`unknown datastore type: ${datastoreType}`);
  return found;
}

/** `lookUp`: the endpoints of a domain, by its SRV records. */
export async function datastoreOptions(
  asked: Asked,
  lookUp: (domain: string) => Promise<readonly string[]>,
): Promise<DatastoreOptions & { readonly type: Type }> {
  const { config } = asked;
  switch (datastoreTypeOf(config)) {
    case "kubernetes":
      return kubernetesOptions(asked);
    case "etcdv3":
      return await etcdOptions(config, lookUp);
    case "directory": {
      if (config.datastoreDirectory === undefined)
        throw new ConfigProblem("no datastore folder specified: set DATASTORE_DIRECTORY, or datastoreDirectory");
      return { type: "directory", path: config.datastoreDirectory };
    }
  }
}

function kubernetesOptions({ config, context, env }: Asked): DatastoreOptions & { readonly type: "kubernetes" } {
  const currentContext = context || config.k8sCurrentContext;
  return {
    type: "kubernetes",
    // One page is asked for and then the command is over; a stream is for those who stay.
    streamLists: false,
    // As often as the original's client does; writes have their own patience (resources/running/turns.ts).
    readsAgain: 10,
    // The kubeconfig of the person who types the command: what kubectl would run, this runs.
    allowExec: true,
    allowProxy: true,
    // The original's own limit (5 a second) makes a file of 200 objects take 20 s. The server has limits of its own.
    clientQps: config.k8sClientQPS === undefined ? -1 : Number(config.k8sClientQPS) || -1,
    ...defined({
      kubeconfig: config.kubeconfig,
      kubeconfigInline: config.kubeconfigInline,
      apiEndpoint: config.k8sAPIEndpoint,
      keyFile: config.k8sKeyFile,
      certFile: config.k8sCertFile,
      caFile: config.k8sCAFile,
      apiToken: config.k8sAPIToken,
      apiGroup: config.calicoAPIGroup,
      currentContext,
      httpsProxy: env.HTTPS_PROXY ?? env.https_proxy,
      httpProxy: env.HTTP_PROXY ?? env.http_proxy,
      noProxy: env.NO_PROXY ?? env.no_proxy,
    }),
    ...(config.k8sClientBurst === undefined ? {} : { clientBurst: Number(config.k8sClientBurst) }),
    ...(isTrue(config.k8sInsecureSkipTLSVerify) ? { insecureSkipTlsVerify: true } : {}),
  };
}

async function etcdOptions(
  config: ClientConfig,
  lookUp: (domain: string) => Promise<readonly string[]>,
): Promise<DatastoreOptions & { readonly type: "etcdv3" }> {
  const { etcdEndpoints, etcdDiscoverySrv, etcdUsername, etcdPassword } = config;
  if (etcdEndpoints !== undefined && etcdDiscoverySrv !== undefined) {
    const both = `use either "etcdEndpoints" or "etcdDiscoverySrv"`;
    throw new ConfigProblem(`multiple discovery or bootstrap options specified, ${both}`);
  }
  const endpoints =
    etcdDiscoverySrv === undefined
      ? (etcdEndpoints ?? "").split(",").flatMap((text) => (text.trim() === "" ? [] : [text.trim()]))
      : await lookUp(etcdDiscoverySrv);
  if (endpoints.length === 0) throw new ConfigProblem("no etcd endpoints specified");
  return {
    type: "etcdv3",
    endpoints,
    tls: etcdTls(config),
    ...(etcdUsername !== undefined && etcdPassword !== undefined
      ? { auth: { username: etcdUsername, password: etcdPassword } }
      : {}),
  };
}

function etcdTls({ etcdKey, etcdCert, etcdCACert, etcdKeyFile, etcdCertFile, etcdCACertFile }: ClientConfig) {
  const inline = defined({ ca: etcdCACert, cert: etcdCert, key: etcdKey });
  const files = defined({ caFile: etcdCACertFile, certFile: etcdCertFile, keyFile: etcdKeyFile });
  const isInline = Object.keys(inline).length > 0;
  if (isInline && Object.keys(files).length > 0)
    throw new ConfigProblem("Cannot mix inline certificate-key and certificate / key files");
  return isInline ? { inline } : files;
}

function isTrue(text: string | undefined): boolean {
  return text !== undefined && /^(?:1|t|true)$/i.test(text);
}

/** Without what is undefined. */
function defined<T extends { readonly [name: string]: string | undefined }>(given: T) {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(entries) as { [name in keyof T]?: string }; // the same names, fewer of them
}
