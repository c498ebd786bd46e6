// What the fields of the network configuration are made of, and the first that is of another type, in the words of Go's JSON parser: people search
// for its sentences. Both plugins read the same fields, also those that only the other one uses, and refuse the whole for any of them.
import { isRecord, type JsonRecord } from "../../../base/lib/index.ts";
import { CniError, cniErrorCodes } from "./cni-error.ts";

type GoType =
  | { readonly is: "text" | "flag" | "map"; readonly name: string }
  | { readonly is: "integer"; readonly name: string; readonly least: bigint; readonly most: bigint }
  | { readonly is: "list"; readonly name: string; readonly of: GoType }
  /** `struct` is "" where Go's has no name. */
  | { readonly is: "struct"; readonly name: string; readonly struct: string; readonly fields: Fields };
type Fields = { readonly [name: string]: GoType };

const text: GoType = { is: "text", name: "string" };
const flag: GoType = { is: "flag", name: "bool" };
const int: GoType = { is: "integer", name: "int", least: -(1n << 63n), most: (1n << 63n) - 1n };
const uint64: GoType = { is: "integer", name: "uint64", least: 0n, most: (1n << 64n) - 1n };
const listOf = (of: GoType): GoType => ({ is: "list", name: `[]${of.name}`, of });
const struct = (name: string, fields: Fields): GoType => ({
  is: "struct",
  name: `types.${name}`,
  struct: name,
  fields,
});
const nameless = (members: string, fields: Fields): GoType => ({
  is: "struct",
  name: `struct { ${members} }`,
  struct: "",
  fields,
});
const each = (type: GoType, ...names: string[]): Fields => Object.fromEntries(names.map((name) => [name, type]));

const ipam = nameless(
  'Name string; Type string "json:\\"type\\""; Subnet string "json:\\"subnet\\""; AssignIpv4 *string "json:\\"assign_ipv4\\""; ' +
    'AssignIpv6 *string "json:\\"assign_ipv6\\""; IPv4Pools []string "json:\\"ipv4_pools,omitempty\\""; IPv6Pools []string "json:\\"ipv6_pools,omitempty\\""',
  {
    ...each(text, "Name", "type", "subnet", "assign_ipv4", "assign_ipv6"),
    ...each(listOf(text), "ipv4_pools", "ipv6_pools"),
  },
);
const label = nameless('Key string "json:\\"key\\""; Value string "json:\\"value\\""', each(text, "key", "value"));
const labels = nameless(`Labels ${listOf(label).name} "json:\\"labels,omitempty\\""`, { labels: listOf(label) });
const mesos = struct("Mesos", { network_info: struct("NetworkInfo", { name: text, labels }) });
const dns = struct("RuntimeConfigDNS", {
  domain: text,
  ...each(listOf(text), "servers", "searches", "options"),
});
const policyTexts = ["type", "k8s_api_root", "k8s_auth_token", "k8s_client_certificate", "k8s_client_key"];

const netConf: Fields = {
  ...each(
    text,
    "cniVersion",
    "name",
    "type",
    "mode",
    "vxlan_mac_prefix",
    "nodename",
    "nodename_file",
    "ipam_lock_file",
  ),
  ...each(text, "datastore_type", "etcd_endpoints", "etcd_discovery_srv", "etcd_scheme", "etcd_key_file"),
  ...each(text, "etcd_cert_file", "etcd_ca_cert_file", "etcd_authority", "hostname", "log_level", "log_file_path"),
  ...each(text, "device_type", "endpoint_status_dir"),
  ...each(int, "qps", "burst", "mtu", "num_queues", "log_file_max_size", "log_file_max_age", "log_file_max_count"),
  ...each(int, "windows_pod_deletion_timestamp_timeout", "policy_setup_timeout_seconds"),
  ...each(flag, "nodename_file_optional", "include_default_routes", "require_mtu_file", "windows_use_single_network"),
  ...each(flag, "windows_disable_default_deny_all_policy", "windows_loopback_DSR"),
  vxlan_vni: uint64,
  ipam,
  args: struct("Args", { "org.apache.mesos": mesos }),
  policy: struct("Policy", each(text, ...policyTexts, "k8s_certificate_authority")),
  kubernetes: struct("Kubernetes", each(text, "k8s_api_root", "kubeconfig", "node_name")),
  feature_control: struct("FeatureControl", each(flag, "ip_addrs_no_ipam", "floating_ips")),
  container_settings: struct("ContainerSettings", { allow_ip_forwarding: flag }),
  dataplane_options: { is: "map", name: "map[string]interface {}" },
  RuntimeConfig: struct("RuntimeConfig", { DNS: dns }),
  readiness_gates: listOf(text),
  calico_api_group: { is: "text", name: "resources.BackingAPIGroup" },
};

/** Throws CniError. */
export function checkTypes(configuration: JsonRecord): void {
  const problem = inStruct(configuration, { struct: "NetConf", fields: netConf }, []);
  if (problem !== undefined) throw new CniError(cniErrorCodes.other, `failed to load netconf: ${problem}`);
}

/**
 * With the names of fields as they are written here: Go takes them in capitals, too, and the last of several counts. Names that Go has without saying how
 * they are written (RuntimeConfig) stay as they are: other plugins read the same text, and know them by the protocol's names.
 */
export function withPlainNames(configuration: JsonRecord): JsonRecord {
  return plainNames(configuration, netConf);
}

function plainNames(value: JsonRecord, fields: Fields): JsonRecord {
  const plain: { [name: string]: unknown } = {};
  for (const [given, member] of Object.entries(value)) {
    const known = nameIn(fields, given);
    const name = known === undefined || /^[A-Z]/.test(known) ? given : known;
    const field = known === undefined ? undefined : fields[known];
    const before = Object.hasOwn(plain, name) ? plain[name] : undefined;
    if (field?.is === "struct" && isRecord(member)) {
      const said = plainNames(member, field.fields);
      plain[name] = isRecord(before) ? { ...before, ...said } : said;
    } else if (member !== null || before === undefined) plain[name] = member; // null says nothing
  }
  return plain;
}

type Struct = { readonly struct: string; readonly fields: Fields };

/** The first in the order of the text. A name may be written in capitals or not: Go takes either. */
function inStruct(value: JsonRecord, type: Struct, path: readonly string[]): string | undefined {
  for (const [given, member] of Object.entries(value)) {
    const name = nameIn(type.fields, given);
    const field = name === undefined ? undefined : type.fields[name];
    if (name === undefined || field === undefined) continue;
    const problem = misfit(member, field, { struct: type.struct, path: [...path, name] });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function nameIn(fields: Fields, given: string): string | undefined {
  if (Object.hasOwn(fields, given)) return given;
  const plain = given.toLowerCase();
  return Object.keys(fields).find((name) => name.toLowerCase() === plain);
}

type Place = { readonly struct: string; readonly path: readonly string[] };

function misfit(value: unknown, type: GoType, at: Place): string | undefined {
  if (value === null) return undefined; // as if nothing had been said
  const seen = seenAs(value);
  const refused = (what: string = seen) =>
    `json: cannot unmarshal ${what} into Go struct field ${at.struct}.${at.path.join(".")} of type ${type.name}`;
  switch (type.is) {
    case "text":
      return seen === "string" ? undefined : refused();
    case "flag":
      return seen === "bool" ? undefined : refused();
    case "map":
      return seen === "object" ? undefined : refused();
    case "integer":
      if (seen !== "number") return refused();
      return isWithin(value, type) ? undefined : refused(`number ${String(value)}`);
    case "list":
      if (!Array.isArray(value)) return refused();
      return value.map((one: unknown) => misfit(one, type.of, at)).find((problem) => problem !== undefined);
    case "struct":
      return isRecord(value) ? inStruct(value, type, at.path) : refused();
  }
}

function isWithin(value: unknown, { least, most }: { readonly least: bigint; readonly most: bigint }): boolean {
  if (typeof value === "bigint") return value >= least && value <= most;
  return typeof value === "number" && Number.isInteger(value) && value >= Number(least) && value <= Number(most);
}

/** As Go calls what it has read. */
export function seenAs(value: unknown): "string" | "bool" | "number" | "array" | "object" {
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "number":
    case "bigint":
      return "number";
    default:
      return "object";
  }
}
