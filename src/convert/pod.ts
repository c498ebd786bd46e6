// Pods to workload endpoints. The state kept is the path of each pod that has an endpoint, because a deletion names the
// pod and not its node, and because a pod recreated elsewhere takes its endpoint along.
import {
  booleanAt,
  FieldError,
  int32,
  integerAt,
  type JsonRecord,
  listAt,
  type Network,
  recordAt,
  recordOf,
  type StringMap,
  stringAt,
  stringMapAt,
  writeGoString,
} from "../model/index.ts";
import { ownText } from "./annotations.ts";
import { type Converted, type ConvertedKv, deletion, type Problem, type Warning } from "./converted.ts";
import {
  type Endpoint,
  type EndpointPort,
  endpointPath,
  endpointProblem,
  type Nat,
  writeEndpoint,
  writeEndpointLabels,
} from "./endpoint.ts";
import { isPodFinished, podAllowedSources, podNats, podNetworks } from "./pod-addresses.ts";
import { asksForQos, podQosControls } from "./pod-qos.ts";
import { nothing, objectName, type Processor, type ProcessorId, type ProcessorOutput } from "./processor.ts";
import { createShortSha1 } from "./sha1.ts";

export type PodOptions = {
  /** FELIX_INTERFACEPREFIX: the first of a comma-separated list counts; "" means "cali". */
  readonly interfacePrefix?: string;
};

type PodEndpoint = { readonly path: string; readonly endpoint: Endpoint };

const networkStatus = "k8s.v1.cni.cncf.io/network-status";
const none: StringMap = {};
const noNats: { ipv4Nats: readonly Nat[]; ipv6Nats: readonly Nat[] } = { ipv4Nats: [], ipv6Nats: [] };

export function createPodProcessor({ interfacePrefix = "" }: PodOptions = {}): Processor {
  const prefix = interfacePrefix === "" ? "cali" : (interfacePrefix.split(",")[0] ?? "");
  const convert = createPodConverter(prefix);
  const paths = new Map<string, string>(); // by namespace/name

  const forget = (id: ProcessorId): ConvertedKv[] => {
    const name = `${id.namespace}/${id.name}`;
    const path = paths.get(name);
    if (path === undefined) return [];
    paths.delete(name);
    return [deletion(path)];
  };

  const set = (id: ProcessorId, revision: string, value: unknown): ProcessorOutput => {
    const converted = convert(id, value);
    if (converted.is === "absent") return { kvs: forget(id), problems: [] };
    if (converted.is === "invalid") {
      const { field = "", why } = converted;
      return { kvs: forget(id), problems: [{ object: objectName("Pod", id), field, rule: why, effect: "deleted" }] };
    }
    const { path, endpoint } = converted.value;
    const name = `${id.namespace}/${id.name}`;
    const known = paths.get(name);
    if (known === undefined) paths.set(name, path);
    else if (known !== path) paths.set(name, path);
    const refused = endpointProblem(endpoint);
    const kv: ConvertedKv = {
      path,
      value: refused === undefined ? writeEndpoint(endpoint) : undefined,
      revision,
      v3ResourceVersion: "",
      ...(refused === undefined ? undefined : { isInvalid: true }),
    };
    const kvs = known === undefined || known === path ? [kv] : [deletion(known), kv];
    return { kvs, problems: problemsOf(id, converted.warnings, refused) };
  };

  return {
    set,
    delete: (id) => {
      const kvs = forget(id);
      return kvs.length === 0 ? nothing : { kvs, problems: [] };
    },
  };
}

const noProblems: readonly Problem[] = [];

function problemsOf(
  id: ProcessorId,
  warnings: readonly Warning[] | undefined,
  refused: Warning | undefined,
): readonly Problem[] {
  if (refused === undefined && (warnings === undefined || warnings.length === 0)) return noProblems;
  const object = objectName("Pod", id);
  return [...(warnings ?? []), ...(refused === undefined ? [] : [refused])].map((warning) => ({ object, ...warning }));
}

/** The pure part: one pod, one answer. */
export function createPodConverter(prefix: string): (id: ProcessorId, value: unknown) => Converted<PodEndpoint> {
  const shortSha1 = createShortSha1();
  return (id, value) => {
    try {
      return podToEndpoint(id, recordOf(value, ""), (text) => prefix + shortSha1(text));
    } catch (error) {
      if (error instanceof FieldError) return { is: "invalid", why: error.rule, field: error.field };
      throw error;
    }
  };
}

function podToEndpoint(
  { namespace, name }: ProcessorId,
  pod: JsonRecord,
  interfaceName: (workload: string) => string,
): Converted<PodEndpoint> {
  const spec = recordAt(pod, "spec", "");
  if (booleanAt(spec, "hostNetwork", "spec") === true) return { is: "absent", why: "it uses the host's network" };
  const hostname = stringAt(spec, "nodeName", "spec") ?? "";
  if (hostname === "") return { is: "absent", why: "it is on no node yet" };
  requireNamePart(hostname, "spec.nodeName");
  requireNamePart(name, "metadata.name");
  const metadata = recordAt(pod, "metadata", "");
  const annotations = stringMapAt(metadata, "annotations", "metadata") ?? none;
  const status = recordAt(pod, "status", "");
  const networks = podNetworks(status, annotations);
  const phase = stringAt(status, "phase", "status") ?? "";
  const isFinished = isPodFinished({ metadata, phase, annotations });
  const allowedSources = podAllowedSources(annotations);
  const nats = isFinished ? noNats : (podNats(networks, annotations) ?? noNats);
  if (isFinished) return { is: "absent", why: "it has finished" };
  if (networks.length === 0) return { is: "absent", why: "it has no address yet" };

  const path = endpointPath({ hostname, orchestrator: "k8s", workload: `${namespace}/${name}`, endpoint: "eth0" });
  if (path === undefined || namespace === "")
    return { is: "invalid", why: "must not be empty", field: "metadata.namespace" };
  const account = stringAt(spec, "serviceAccountName", "spec") ?? "";
  const warnings: Warning[] = [];
  const cniStatus = ownText(annotations, networkStatus);
  const endpoint: Endpoint = {
    name: interfaceName(`${namespace}.${name}`),
    mac: undefined,
    profileIds: account === "" ? [`kns.${namespace}`] : [`kns.${namespace}`, `ksa.${namespace}.${account}`],
    ...netsByFamily(networks),
    ...nats,
    labels: writeEndpointLabels(stringMapAt(metadata, "labels", "metadata") ?? none, ownLabels(namespace, account)),
    ipv4Gateway: undefined,
    ipv6Gateway: undefined,
    ports: podPorts(spec),
    generateName: stringAt(metadata, "generateName", "metadata") ?? "",
    allowedSources,
    annotations: cniStatus === undefined ? undefined : `{"${networkStatus}":${writeGoString(cniStatus)}}`,
    qosControls: asksForQos(annotations) ? podQosControls(annotations, warnings) : undefined,
  };
  return { is: "value", value: { path, endpoint }, warnings };
}

/** The name of a stored endpoint joins its parts with dashes, so that none may begin or end with one. */
function requireNamePart(part: string, field: string): void {
  if (part === "" || part.startsWith("-") || part.endsWith("-")) {
    throw new FieldError(field, "must not be empty, nor begin or end with a dash");
  }
}

function ownLabels(namespace: string, account: string): StringMap {
  const own = { "projectcalico.org/namespace": namespace, "projectcalico.org/orchestrator": "k8s" };
  return account === "" ? own : { ...own, "projectcalico.org/serviceaccount": account };
}

function netsByFamily(networks: readonly Network[]): { ipv4Nets: string[]; ipv6Nets: string[] } {
  const ipv4Nets: string[] = [];
  const ipv6Nets: string[] = [];
  for (const { version, text } of networks) (version === 4 ? ipv4Nets : ipv6Nets).push(text);
  return { ipv4Nets, ipv6Nets };
}

/** Ports by name, of containers and then of init containers: only named ports can be matched by a policy. */
function podPorts(spec: JsonRecord): EndpointPort[] {
  const ports: EndpointPort[] = [];
  for (const field of ["containers", "initContainers"]) {
    for (const container of listAt(spec, field, "spec")) {
      const at = `spec.${field}[]`;
      addPorts(ports, listAt(recordOf(container, at), "ports", at), `${at}.ports[]`);
    }
  }
  return ports;
}

function addPorts(ports: EndpointPort[], given: readonly unknown[], field: string): void {
  for (const item of given) {
    const from = recordOf(item, field);
    const port = integerAt(from, "containerPort", field, int32) ?? 0;
    const name = stringAt(from, "name", field) ?? "";
    const protocol = stringAt(from, "protocol", field) ?? "";
    if (port === 0 || name === "") continue;
    if (protocol !== "" && protocol !== "TCP" && protocol !== "UDP" && protocol !== "SCTP") continue;
    ports.push({ name, protocol: protocol === "" ? "tcp" : protocol.toLowerCase(), port: port & 0xffff });
  }
}
