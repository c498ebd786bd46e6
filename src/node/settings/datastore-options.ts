// Which datastore a node's programs open, by the variables that calico/node and Felix have: FELIX_* first, then the generic ones, of which
// each is tried with CALICO_ in front.
import type { Environment } from "../../base/config/index.ts";
import { CattailError } from "../../base/lib/index.ts";
import type { DatastoreOptions } from "../../calico/datastore/index.ts";
import type { LiveSettings } from "../part/index.ts";
import { felixSettings } from "./typed.ts";

/** `settings`: FELIX_* of environment and file, for the agent; the other commands of a node have none. */
export function nodeDatastoreOptions(environment: Environment, settings?: LiveSettings): DatastoreOptions {
  const felix = settings === undefined ? undefined : felixSettings(settings);
  const generic = (name: string) => environment[`CALICO_${name}`] || environment[name] || "";
  const directory = felix?.value("DatastoreDirectory") || generic("DATASTORE_DIRECTORY");
  const endpoints = etcdEndpoints(felix?.value("EtcdEndpoints") ?? [], generic("ETCD_ENDPOINTS"));
  const asked = felix?.value("DatastoreType") || generic("DATASTORE_TYPE").toLowerCase();
  const type = asked || (endpoints.length > 0 ? "etcdv3" : directory === "" ? "kubernetes" : "directory");
  switch (type) {
    case "kubernetes":
      return { type, ...kubernetesOptions(generic, environment) };
    case "etcdv3":
      return { type, ...etcdOptions(endpoints, generic, felix) };
    case "directory":
      if (directory !== "") return { type, path: directory };
      throw unusable("DATASTORE_TYPE is directory, but no folder is named", "Set DATASTORE_DIRECTORY to the folder");
    default:
      throw unusable(
        `DATASTORE_TYPE is ${JSON.stringify(type)}, and there is no such type`,
        "Set it to kubernetes, etcdv3 or directory",
      );
  }
}

function etcdEndpoints(own: readonly string[], generic: string): readonly string[] {
  if (own.length > 0) return own;
  return generic
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

function etcdOptions(
  endpoints: readonly string[],
  generic: (name: string) => string,
  felix: ReturnType<typeof felixSettings> | undefined,
) {
  const caFile = felix?.value("EtcdCaFile") || generic("ETCD_CA_CERT_FILE");
  const certFile = felix?.value("EtcdCertFile") || generic("ETCD_CERT_FILE");
  const keyFile = felix?.value("EtcdKeyFile") || generic("ETCD_KEY_FILE");
  const [username, password] = [generic("ETCD_USERNAME"), generic("ETCD_PASSWORD")];
  const byAddress = `${felix?.value("EtcdScheme") || "http"}://${felix?.value("EtcdAddr") || "127.0.0.1:2379"}`;
  return {
    endpoints: endpoints.length > 0 ? endpoints : [byAddress],
    tls: {
      ...(caFile === "" ? {} : { caFile }),
      ...(certFile === "" ? {} : { certFile }),
      ...(keyFile === "" ? {} : { keyFile }),
    },
    ...(username === "" || password === "" ? {} : { auth: { username, password } }),
  };
}

function kubernetesOptions(generic: (name: string) => string, environment: Environment) {
  const kubeconfig = generic("KUBECONFIG");
  const eitherCase = (name: string) => environment[name] || environment[name.toLowerCase()] || "";
  const qps = Number(generic("K8S_CLIENT_QPS"));
  const burst = Number(generic("K8S_CLIENT_BURST"));
  return {
    kubeconfig,
    apiEndpoint: generic("K8S_API_ENDPOINT"),
    keyFile: generic("K8S_KEY_FILE"),
    certFile: generic("K8S_CERT_FILE"),
    caFile: generic("K8S_CA_FILE"),
    currentContext: generic("K8S_CURRENT_CONTEXT"),
    apiToken: environment.CALICO_K8SAPITOKEN ?? "",
    insecureSkipTlsVerify: /^(1|t|true)$/i.test(generic("K8S_INSECURE_SKIP_TLS_VERIFY")),
    apiGroup: generic("CALICO_API_GROUP"),
    ...(Number.isFinite(qps) && qps !== 0 ? { clientQps: qps } : {}),
    ...(burst > 0 ? { clientBurst: burst } : {}),
    httpsProxy: eitherCase("HTTPS_PROXY"),
    httpProxy: eitherCase("HTTP_PROXY"),
    noProxy: eitherCase("NO_PROXY"),
    // Whoever names a kubeconfig has asked for what it runs and goes through, as with kubectl.
    allowExec: kubeconfig !== "",
    allowProxy: kubeconfig !== "",
  };
}

function unusable(problem: string, next: string): CattailError {
  return new CattailError("NODE_DATASTORE", { problem, next });
}
