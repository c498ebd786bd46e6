// What the network configuration says about a pod's interface and endpoint. Which datastore is used, and what IPAM reads, is read elsewhere:
// the configuration is passed on to IPAM as it came.
import { cidrToText, isRecord, type JsonRecord, mask, parseCidr } from "../../../base/lib/index.ts";
import { EndpointError } from "../endpoint-error.ts";

export type EndpointSettings = {
  readonly network: string;
  /** "k8s": pods and namespaces are read, and their profiles hold. "": one profile named like the network. */
  readonly policyType: string;
  readonly nodenameFileOptional: boolean;
  /** 0: as the file says, else as the kernel chooses. */
  readonly mtu: number;
  readonly requireMtuFile: boolean;
  readonly queues: number;
  readonly deviceType: string;
  readonly allowIpForwarding: boolean;
  readonly ipamType: string;
  readonly includeDefaultRoutes: boolean;
  readonly features: { readonly ipAddrsNoIpam: boolean; readonly floatingIps: boolean };
  readonly policyWaitSeconds: number;
  readonly endpointStatusDir: string;
  /** URLs that must answer before a pod gets its network. */
  readonly readinessGates: readonly string[];
  readonly logLevel: "debug" | "info" | "error";
  readonly logFile: string | undefined;
  /** When the file is set aside, and which of those that were are kept. */
  readonly logRotation: { readonly maxMegabytes: number; readonly maxDays: number; readonly maxFiles: number };
};

const deviceTypes = ["veth", "netkit"];

/** Throws EndpointError. */
export function readEndpointSettings(value: JsonRecord & { readonly name: string }): EndpointSettings {
  const ipam = recordAt(value, "ipam");
  const features = recordAt(value, "feature_control");
  return {
    network: value.name,
    policyType: text(recordAt(value, "policy"), "type"),
    nodenameFileOptional: flag(value, "nodename_file_optional"),
    mtu: count(value, "mtu"),
    requireMtuFile: flag(value, "require_mtu_file"),
    queues: Math.max(1, count(value, "num_queues")),
    deviceType: text(value, "device_type") || "veth",
    allowIpForwarding: flag(recordAt(value, "container_settings"), "allow_ip_forwarding"),
    ipamType: text(ipam, "type"),
    includeDefaultRoutes: flag(value, "include_default_routes"),
    features: { ipAddrsNoIpam: flag(features, "ip_addrs_no_ipam"), floatingIps: flag(features, "floating_ips") },
    policyWaitSeconds: count(value, "policy_setup_timeout_seconds"),
    endpointStatusDir: text(value, "endpoint_status_dir") || "/var/run/calico/endpoint-status",
    readinessGates: texts(value, "readiness_gates"),
    logLevel: logLevel(text(value, "log_level")),
    logFile: text(value, "log_file_path") || undefined,
    logRotation: {
      maxMegabytes: count(value, "log_file_max_size") || 100,
      maxDays: count(value, "log_file_max_age") || 30,
      maxFiles: count(value, "log_file_max_count") || 10,
    },
  };
}

/** Of ADD alone: what was added with a better configuration must still be deleted with this one. */
export function checkPolicyWait({ policyWaitSeconds }: EndpointSettings): void {
  if (policyWaitSeconds < 0) throw new EndpointError(`invalid pod startup delay of ${policyWaitSeconds}`);
}

/** Of host-local: what a pod reaches through its interface, instead of everything. Read by ADD alone. */
export function readPodRoutes({ ipam }: JsonRecord): readonly string[] {
  const { type, routes } = record(ipam);
  return type === "host-local" ? [...new Set(routesOf(routes, record(ipam)))] : [];
}

/** Said after the MTU's file was read, as the original does. */
export function checkDeviceType({ deviceType }: EndpointSettings): void {
  if (deviceTypes.includes(deviceType)) return;
  const known = deviceTypes.map((each) => JSON.stringify(each)).join(", ");
  throw new EndpointError(`unknown device_type ${JSON.stringify(deviceType)} in CNI config (supported: ${known})`);
}

/** Who asks for another dataplane must not get the kernel's instead: rules that hold there would not hold here. */
export function checkDataplane({ dataplane_options }: JsonRecord): void {
  const { type } = record(dataplane_options);
  if (type === undefined) return;
  if (type !== "grpc") throw new EndpointError(`invalid dataplane type: ${String(type).slice(0, 80)}`);
  throw new EndpointError("the gRPC dataplane is not built in this plugin", {
    next: "take dataplane_options out of the network configuration, or use the original's plugin on this node",
  });
}

/** The file's number; undefined: there is no file. */
export function readMtu(content: string | undefined, { mtu, requireMtuFile }: EndpointSettings, path: string): number {
  const failed = (why: string) => new EndpointError(`failed to read MTU file: ${why}`);
  if (content === undefined) {
    if (requireMtuFile) throw failed(`open ${path}: no such file or directory`);
    return mtu;
  }
  const digits = content.trim();
  const refused = (why: string) => failed(`strconv.Atoi: parsing ${JSON.stringify(digits)}: ${why}`);
  if (!/^[+-]?\d+$/.test(digits)) throw refused("invalid syntax");
  if (BigInt.asIntN(64, BigInt(digits.replace("+", ""))) !== BigInt(digits.replace("+", "")))
    throw refused("value out of range");
  return mtu === 0 ? Number(digits) : mtu;
}

function record(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

function recordAt(of: JsonRecord, name: string): JsonRecord {
  const value = Object.hasOwn(of, name) ? of[name] : undefined;
  if (value === undefined || value === null) return {};
  if (isRecord(value)) return value;
  throw wrongType(name, "an object", value);
}

/** Networks, without bits of hosts, which the kernel refuses. A route without a destination is none. */
function routesOf(value: unknown, ipam: JsonRecord): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    const seen = goText(ipam);
    throw new EndpointError(`failed to parse host-local IPAM routes section; expecting list, not: ${seen}`);
  }
  return value.flatMap((route) => {
    const destination = record(route).dst;
    if (destination === undefined) return [];
    if (typeof destination !== "string") {
      const seen = goText(destination);
      throw new EndpointError(`invalid IPAM routes section; expecting 'dst' to be a string, not: ${seen}`);
    }
    const cidr = parseCidr(destination);
    if (cidr === undefined) throw new EndpointError(`invalid CIDR address: ${destination}`);
    return [cidrToText(mask(cidr))];
  });
}

/** As Go prints what it has read from JSON. */
function goText(value: unknown): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (!isRecord(value)) return String(value);
  const members = Object.keys(value).sort();
  return `map[${members.map((name) => `${name}:${goText(value[name])}`).join(" ")}]`;
}

function wrongType(name: string, wanted: string, value: unknown): EndpointError {
  return new EndpointError(
    `failed to load netconf: ${name} must be ${wanted}, and is ${JSON.stringify(value).slice(0, 80)}`,
  );
}

function text(of: JsonRecord, name: string): string {
  const value = Object.hasOwn(of, name) ? of[name] : undefined;
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  throw wrongType(name, "a text", value);
}

function texts(of: JsonRecord, name: string): readonly string[] {
  const value = Object.hasOwn(of, name) ? of[name] : undefined;
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  throw wrongType(name, "a list of texts", value);
}

function flag(of: JsonRecord, name: string): boolean {
  const value = Object.hasOwn(of, name) ? of[name] : undefined;
  if (value === undefined || value === null) return false;
  if (typeof value === "boolean") return value;
  throw wrongType(name, "true or false", value);
}

function count(of: JsonRecord, name: string): number {
  const value = Object.hasOwn(of, name) ? of[name] : undefined;
  if (value === undefined || value === null) return 0;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw wrongType(name, "a whole number", value);
}

function logLevel(given: string): "debug" | "info" | "error" {
  const level = given.toLowerCase();
  return level === "debug" || level === "error" ? level : "info";
}
