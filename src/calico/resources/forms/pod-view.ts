// Calico's WorkloadEndpoint as a view of the pod: read only, but for the two annotations with which the CNI plugin says that
// a pod got its addresses, or gave them back. Pods without a node or on the host's network have no endpoint; finished
// ones have one without addresses.

import { type JsonRecord, parseJson } from "../../../base/lib/index.ts";
import {
  asksForQos,
  createShortSha1,
  isPodFinished,
  ownText,
  parseTextList,
  podAllowedSources,
  podNetworks,
  podQosControls,
} from "../../convert/views.ts";
import type { WorkloadEndpointSpec } from "../../kinds/index.ts";
import {
  cleanJson,
  listAt,
  member,
  objectMeta,
  readSchema,
  recordAt,
  recordOf,
  type StringMap,
  stringAt,
} from "../../model/index.ts";
import { endpointNameOfPod, type Id } from "../names.ts";
import { toV3, type V3Object } from "../v3-object.ts";

const podIp = "cni.projectcalico.org/podIP";
const podIps = "cni.projectcalico.org/podIPs";
const containerId = "cni.projectcalico.org/containerID";
const floatingIps = "cni.projectcalico.org/floatingIPs";
const networkStatus = "k8s.v1.cni.cncf.io/network-status";

const shortSha1 = createShortSha1();

/** Undefined: the pod has no endpoint. Throws FieldError for a pod that cannot be read. */
export function fromPod(
  { id, value, revision }: { id: Id; value: unknown; revision: string },
  { interfacePrefix }: { interfacePrefix: string },
): V3Object | undefined {
  const pod = recordOf(cleanJson(value), "");
  const spec = recordAt(pod, "spec", "");
  const node = stringAt(spec, "nodeName", "spec") ?? "";
  if (member(spec, "hostNetwork") === true || node === "") return undefined;
  const metadata = readSchema(objectMeta, member(pod, "metadata") ?? {}, "metadata");
  const account = stringAt(spec, "serviceAccountName", "spec") ?? "";
  const { annotations = {} } = metadata;
  const status = ownText(annotations, networkStatus);
  return toV3("WorkloadEndpoint", {
    metadata: {
      name: endpointNameOfPod(node, id.name),
      generateName: metadata.generateName,
      namespace: id.namespace,
      uid: metadata.uid,
      resourceVersion: revision,
      creationTimestamp: metadata.creationTimestamp,
      labels: {
        ...metadata.labels,
        "projectcalico.org/namespace": id.namespace,
        "projectcalico.org/orchestrator": "k8s",
        ...(account !== "" && account.length < 63 ? { "projectcalico.org/serviceaccount": account } : {}),
      },
      annotations: status === undefined ? undefined : { [networkStatus]: status },
    },
    spec: endpointSpec(pod, { id, node, account, annotations, interfacePrefix }),
  });
}

type Podness = { id: Id; node: string; account: string; annotations: StringMap; interfacePrefix: string };

function endpointSpec(
  pod: JsonRecord,
  { id, node, account, annotations, interfacePrefix }: Podness,
): WorkloadEndpointSpec {
  const spec = recordAt(pod, "spec", "");
  const status = recordAt(pod, "status", "");
  const phase = stringAt(status, "phase", "status") ?? "";
  const isFinished = isPodFinished({ metadata: recordAt(pod, "metadata", ""), phase, annotations });
  const networks = podNetworks(status, annotations).map(({ text }) => text);
  const held = isFinished ? [] : networks;
  const qos = asksForQos(annotations) ? podQosControls(annotations, []) : undefined;
  const profile = `kns.${id.namespace}`;
  return {
    orchestrator: "k8s",
    node,
    containerID: ownText(annotations, containerId),
    pod: id.name,
    endpoint: "eth0",
    serviceAccountName: account,
    ipNetworks: held,
    ipNATs: floatingAddresses(held, annotations),
    profiles: account === "" ? [profile] : [profile, `ksa.${id.namespace}.${account}`],
    interfaceName: interfacePrefix + shortSha1(`${id.namespace}.${id.name}`),
    ports: [...portsOf(spec, "containers"), ...portsOf(spec, "initContainers")],
    allowSpoofedSourcePrefixes: podAllowedSources(annotations),
    qosControls: qos === undefined ? undefined : (parseJson(qos) as NonNullable<WorkloadEndpointSpec["qosControls"]>), // written from that very type
  };
}

/** Each floating address goes to the pod's last one of its family. */
function floatingAddresses(networks: readonly string[], annotations: StringMap): WorkloadEndpointSpec["ipNATs"] {
  const text = ownText(annotations, floatingIps);
  if (text === undefined || networks.length === 0) return undefined;
  const internal = (isVersion6: boolean) =>
    networks
      .filter((network) => network.includes(":") === isVersion6)
      .at(-1)
      ?.replace(/\/\d+$/, "");
  return parseTextList(text, floatingIps).flatMap((externalIP) => {
    const internalIP = internal(externalIP.includes(":"));
    return internalIP === undefined ? [] : [{ internalIP, externalIP }];
  });
}

function portsOf(spec: JsonRecord, field: string): NonNullable<WorkloadEndpointSpec["ports"]> {
  return listAt(spec, field, "spec").flatMap((container, at) => {
    const place = `spec.${field}[${at}]`;
    return listAt(recordOf(container ?? {}, place), "ports", place).flatMap((item) => {
      const given = recordOf(item ?? {}, `${place}.ports`);
      const name = stringAt(given, "name", place) ?? "";
      const protocol = stringAt(given, "protocol", place) || "TCP";
      const { containerPort: port, hostPort = 0 } = given;
      if (typeof port !== "number" || port === 0 || typeof hostPort !== "number") return [];
      if ((name === "" && hostPort === 0) || !["TCP", "UDP", "SCTP"].includes(protocol)) return [];
      const hostIP = stringAt(given, "hostIP", place) ?? "";
      return [{ name, protocol, port: port & 0xffff, hostPort: hostPort & 0xffff, hostIP }];
    });
  });
}

/** With which the CNI plugin says what the pod got; undefined: the endpoint has no address, and nothing is said. */
export function podAnnotationsOf(endpoint: V3Object): StringMap | undefined {
  const { ipNetworks, containerID } = endpoint.spec;
  const networks = Array.isArray(ipNetworks) ? ipNetworks.map(String) : [];
  const [first] = networks;
  if (first === undefined) return undefined;
  const container = typeof containerID === "string" && containerID !== "" ? { [containerId]: containerID } : {};
  return { [podIp]: first, [podIps]: networks.join(","), ...container };
}

/** With which it says that the pod gave its addresses back. The container's id stays, for a second DEL to know it by. */
export const releasedPodAnnotations: StringMap = { [podIp]: "", [podIps]: "" };
