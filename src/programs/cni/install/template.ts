// The network configuration: a template whose words are replaced by what this host and the variables say. What comes out must be JSON, because
// kubelet takes whatever lies there.
import { readFileSync } from "node:fs";
import { CattailError, goJsonProblem, isRecord, type JsonRecord, messageOf, nearest } from "../../../base/lib/index.ts";
import type { Variables } from "./settings.ts";

const builtIn = `{
  "name": "k8s-pod-network",
  "cniVersion": "1.0.0",
  "plugins": [
    {
      "type": "calico",
      "log_level": "__LOG_LEVEL__",
      "log_file_path": "__LOG_FILE_PATH__",
      "datastore_type": "__DATASTORE_TYPE__",
      "nodename": "__KUBERNETES_NODE_NAME__",
      "mtu": __CNI_MTU__,
      "ipam": { "type": "calico-ipam" },
      "policy": { "type": "k8s" },
      "kubernetes": { "kubeconfig": "__KUBECONFIG_FILEPATH__" },
      "require_mtu_file": __REQUIRE_MTU_FILE__,
      "calico_api_group": "__CALICO_API_GROUP__"
    },
    { "type": "portmap", "snat": true, "capabilities": { "portMappings": true } }
  ]
}
`;

/** Each from the variable of its name, or this. */
const words: { readonly [name: string]: string } = {
  LOG_LEVEL: "info",
  LOG_FILE_PATH: "/var/log/calico/cni/cni.log",
  LOG_FILE_MAX_SIZE: "100",
  LOG_FILE_MAX_AGE: "30",
  LOG_FILE_MAX_COUNT: "10",
  DATASTORE_TYPE: "kubernetes",
  KUBERNETES_NODE_NAME: "",
  CNI_MTU: "1500",
  KUBERNETES_SERVICE_HOST: "",
  KUBERNETES_SERVICE_PORT: "",
  CALICO_API_GROUP: "crd.projectcalico.org/v1",
  ETCD_ENDPOINTS: "",
  ETCD_DISCOVERY_SRV: "",
  REQUIRE_MTU_FILE: "false",
};

/** What is known of this installation, and of no variable. */
export type Known = {
  readonly kubeconfigPath: string;
  readonly serviceAccountToken: string;
  /** On the host; empty where there is none. */
  readonly etcd: { readonly cert: string; readonly key: string; readonly ca: string };
};

export type Filled = {
  readonly text: string;
  readonly value: JsonRecord;
  /** Words that stand for nothing, and what was probably meant. */
  readonly unknown: readonly string[];
};

/** A file wins over a variable, as in the original. */
export function chosenTemplate({ CNI_NETWORK_CONFIG_FILE: file, CNI_NETWORK_CONFIG: text }: Variables): string {
  if (file === undefined || file === "") return text || builtIn;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CattailError("CNI_CONFIG_TEMPLATE", {
      problem: `the template that CNI_NETWORK_CONFIG_FILE names cannot be read (${messageOf(error)})`,
      next: "Mount the file at that path, or give the text itself in CNI_NETWORK_CONFIG",
      cause: error,
    });
  }
}

/** The order is the original's: what one word brings in may hold a later one. */
export function fill(template: string, variables: Variables, facts: Known): Filled {
  const values = new Map(Object.entries(words).map(([name, usual]) => [name, variables[name] ?? usual]));
  values.set("KUBECONFIG_FILEPATH", facts.kubeconfigPath);
  values.set("SERVICEACCOUNT_TOKEN", facts.serviceAccountToken);
  values.set("ETCD_CERT_FILE", facts.etcd.cert);
  values.set("ETCD_CA_CERT_FILE", facts.etcd.ca);
  values.set("ETCD_KEY_FILE", facts.etcd.key);
  let text = template;
  for (const [name, value] of values) text = text.replaceAll(`__${name}__`, () => value);
  const known = [...values.keys()];
  return { text, value: parsed(text, known), unknown: unknownWords(text, known) };
}

function parsed(text: string, known: readonly string[]): JsonRecord {
  const problem = goJsonProblem(text);
  const value: unknown = problem === undefined ? JSON.parse(text) : undefined;
  if (isRecord(value)) return value;
  const [unknown] = unknownWords(text, known);
  throw new CattailError("CNI_CONFIG_NOT_JSON", {
    // Not its text: it may hold a token.
    problem: `the network configuration is not JSON once its words are filled in (${problem ?? "it is not an object"})`,
    next:
      unknown === undefined
        ? "Look at the template (CNI_NETWORK_CONFIG): a number such as __CNI_MTU__ stands without quotes, a text with them"
        : `The template has the word ${unknown}`,
  });
}

/** Words of a filled text that stand for nothing, as sentences. */
function unknownWords(text: string, known: readonly string[]): string[] {
  const names = new Set([...text.matchAll(/__([A-Z][A-Z_]*[A-Z])__/g)].map(([, name = ""]) => name));
  return [...names].map((name) => {
    const close = nearest(name, known);
    return `__${name}__, which is none${close === undefined ? "" : `; did you mean __${close}__?`}`;
  });
}

/** Every plugin that the configuration has a runtime start. */
export function pluginsNamed(configuration: JsonRecord): readonly string[] {
  const plugins = Array.isArray(configuration.plugins) ? configuration.plugins : [configuration];
  return plugins.flatMap((plugin: unknown) => {
    if (!isRecord(plugin)) return [];
    const ipam = isRecord(plugin.ipam) ? plugin.ipam.type : undefined;
    return [plugin.type, ipam].filter((type): type is string => typeof type === "string" && type !== "");
  });
}
