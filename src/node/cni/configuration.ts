// The network configuration, as far as the plugins read it, and the variables that stand in for what it leaves out. Unknown fields
// are passed over: other plugins read the same text.
import { isRecord, type JsonRecord } from "../../base/lib/index.ts";
import type { DatastoreOptions, KubernetesSettings } from "../../calico/datastore/index.ts";
import type { Variables } from "./protocol/call.ts";
import { CniError, cniErrorCodes } from "./protocol/cni-error.ts";
import { checkTypes } from "./protocol/netconf-types.ts";

export type NetworkConfiguration = {
  readonly name: string;
  /** Chosen when it is needed: CHECK needs none. Throws CniError. */
  readonly datastore: () => DatastoreOptions;
  /** Where namespaces are read; undefined: nobody asks for their labels. */
  readonly kubernetes: KubernetesSettings | undefined;
  readonly nodename: string | undefined;
  readonly nodenameFile: string;
  /** Deprecated, and older than nodename. */
  readonly hostname: string | undefined;
  readonly ipam: {
    readonly assignIpv4: boolean;
    readonly assignIpv6: boolean;
    readonly ipv4Pools: readonly string[];
    readonly ipv6Pools: readonly string[];
  };
  readonly lockFile: string;
};

const defaultNodenameFile = "/var/lib/calico/nodename";
const defaultLockFile = "/var/run/calico/ipam.lock";

/** Throws CniError for a field that is not what it should be. */
export function readNetworkConfiguration(value: JsonRecord, variables: Variables): NetworkConfiguration {
  checkTypes(value);
  const ipam = recordAt(value, "ipam");
  const policy = recordAt(value, "policy");
  const settings = kubernetesSettings(value, variables);
  const readsNamespaces = textAt(recordAt(value, "kubernetes"), "kubeconfig") !== undefined || policy.type === "k8s";
  return {
    name: textAt(value, "name") ?? "",
    datastore: () => datastoreOptions(value, { variables, settings }),
    kubernetes: readsNamespaces ? settings : undefined,
    nodename: textAt(value, "nodename"),
    nodenameFile: textAt(value, "nodename_file") ?? defaultNodenameFile,
    hostname: textAt(value, "hostname"),
    ipam: {
      assignIpv4: (textAt(ipam, "assign_ipv4") ?? "true") !== "false",
      assignIpv6: textAt(ipam, "assign_ipv6") === "true",
      ipv4Pools: textsAt(ipam, "ipv4_pools"),
      ipv6Pools: textsAt(ipam, "ipv6_pools"),
    },
    lockFile: textAt(value, "ipam_lock_file") ?? defaultLockFile,
  };
}

type DatastoreSources = { readonly variables: Variables; readonly settings: KubernetesSettings };

function datastoreOptions(value: JsonRecord, { variables, settings }: DatastoreSources): DatastoreOptions {
  const endpoints = etcdEndpoints(value, variables);
  const type = textAt(value, "datastore_type") ?? (variables.DATASTORE_TYPE || undefined);
  switch (type ?? (endpoints.length > 0 ? "etcdv3" : "kubernetes")) {
    case "kubernetes":
      return { type: "kubernetes", ...settings };
    case "etcdv3":
      return etcdOptions(value, endpoints, variables);
    case "directory":
      return directoryOptions(value, variables);
    default:
      throw new CniError(cniErrorCodes.other, `unknown datastore type: ${type}`);
  }
}

/** Lists are pages and not streams: the plugin's role may list, and not watch. One call at a time needs no limit of requests, unless one is set. */
function kubernetesSettings(value: JsonRecord, variables: Variables): KubernetesSettings {
  const kubernetes = recordAt(value, "kubernetes");
  const policy = recordAt(value, "policy");
  const burst = numberAt(value, "burst") || numberOf(variables.K8S_CLIENT_BURST);
  return {
    streamLists: false,
    clientQps: numberAt(value, "qps") || numberOf(variables.K8S_CLIENT_QPS) || -1,
    ...(burst > 0 ? { clientBurst: burst } : {}),
    apiGroup: textAt(value, "calico_api_group") ?? (variables.CALICO_API_GROUP || "crd.projectcalico.org/v1"),
    ...said("kubeconfig", textAt(kubernetes, "kubeconfig") ?? variables.KUBECONFIG),
    ...said(
      "apiEndpoint",
      textAt(kubernetes, "k8s_api_root") ?? textAt(policy, "k8s_api_root") ?? variables.K8S_API_ENDPOINT,
    ),
    ...said("apiToken", textAt(policy, "k8s_auth_token") ?? variables.K8S_API_TOKEN),
    ...said("certFile", textAt(policy, "k8s_client_certificate") ?? variables.K8S_CERT_FILE),
    ...said("keyFile", textAt(policy, "k8s_client_key") ?? variables.K8S_KEY_FILE),
    ...said("caFile", textAt(policy, "k8s_certificate_authority") ?? variables.K8S_CA_FILE),
  };
}

function etcdEndpoints(value: JsonRecord, variables: Variables): readonly string[] {
  const authority = textAt(value, "etcd_authority");
  const old = authority === undefined ? undefined : `${textAt(value, "etcd_scheme") ?? "http"}://${authority}`;
  const text = textAt(value, "etcd_endpoints") ?? old ?? variables.ETCD_ENDPOINTS ?? "";
  return text.split(",").flatMap((each) => (each.trim() === "" ? [] : [each.trim()]));
}

function etcdOptions(value: JsonRecord, endpoints: readonly string[], variables: Variables): DatastoreOptions {
  const discoveryDomain = textAt(value, "etcd_discovery_srv") ?? (variables.ETCD_DISCOVERY_SRV || undefined);
  if (endpoints.length > 0 && discoveryDomain !== undefined) {
    const both = 'use either "etcdEndpoints" or "etcdDiscoverySrv"';
    throw new CniError(cniErrorCodes.other, `multiple discovery or bootstrap options specified, ${both}`);
  }
  if (endpoints.length === 0 && discoveryDomain === undefined)
    throw new CniError(cniErrorCodes.other, "no etcd endpoints specified");
  const tls = {
    ...said("caFile", textAt(value, "etcd_ca_cert_file") ?? variables.ETCD_CA_CERT_FILE),
    ...said("certFile", textAt(value, "etcd_cert_file") ?? variables.ETCD_CERT_FILE),
    ...said("keyFile", textAt(value, "etcd_key_file") ?? variables.ETCD_KEY_FILE),
  };
  const { ETCD_USERNAME: username = "", ETCD_PASSWORD: password = "" } = variables;
  return {
    type: "etcdv3",
    endpoints,
    tls,
    ...(discoveryDomain === undefined ? {} : { discoveryDomain }),
    ...(username === "" ? {} : { auth: { username, password } }),
  };
}

/** Ours alone: a folder of YAML that all nodes of a laboratory share. */
function directoryOptions(value: JsonRecord, variables: Variables): DatastoreOptions {
  const path = textAt(value, "datastore_directory") ?? variables.DATASTORE_DIRECTORY ?? "";
  if (path !== "") return { type: "directory", path };
  throw new CniError(cniErrorCodes.other, "the datastore is a directory, and datastore_directory does not say which", {
    details: "set datastore_directory in the network configuration to the folder",
  });
}

function recordAt(value: JsonRecord, name: string): JsonRecord {
  const member = Object.hasOwn(value, name) ? value[name] : undefined;
  if (member === undefined || member === null) return {};
  if (isRecord(member)) return member;
  throw wrongType(name, "an object", member);
}

/** An empty text is as good as none. */
function textAt(value: JsonRecord, name: string): string | undefined {
  const member = Object.hasOwn(value, name) ? value[name] : undefined;
  if (member === undefined || member === null || member === "") return undefined;
  if (typeof member === "string") return member;
  throw wrongType(name, "a text", member);
}

function textsAt(value: JsonRecord, name: string): readonly string[] {
  const member = Object.hasOwn(value, name) ? value[name] : undefined;
  if (member === undefined || member === null) return [];
  if (Array.isArray(member) && member.every((each) => typeof each === "string")) return member;
  throw wrongType(name, "a list of texts", member);
}

/** 0: nothing is said. */
function numberAt(value: JsonRecord, name: string): number {
  const member = Object.hasOwn(value, name) ? value[name] : undefined;
  if (member === undefined || member === null) return 0;
  if (typeof member === "number" && Number.isSafeInteger(member)) return member;
  throw wrongType(name, "a whole number", member);
}

function numberOf(text: string | undefined): number {
  const number = Number(text);
  return Number.isFinite(number) ? number : 0;
}

function wrongType(name: string, wanted: string, member: unknown): CniError {
  const seen = JSON.stringify(member).slice(0, 80);
  return new CniError(cniErrorCodes.other, `failed to load netconf: ${name} must be ${wanted}, and is ${seen}`);
}

function said<Name extends string>(name: Name, text: string | undefined): { [name in Name]?: string } {
  return (text === undefined || text === "" ? {} : { [name]: text }) as { [name in Name]?: string };
}
