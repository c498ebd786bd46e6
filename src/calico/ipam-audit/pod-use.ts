// Which addresses a pod uses, as an audit asks it: no more of the pod is read than that, and nothing of it is kept. A cluster has
// many pods, and each is ten kilobytes.
import { isRecord, type JsonRecord } from "../../base/lib/index.ts";
import { isPodFinished, podNetworks } from "../convert/views.ts";
import { type AddressUse, usesOfWorkload } from "../ipam/index.ts";
import { workloadEndpointName } from "../kinds/index.ts";
import { FieldError, type StringMap } from "../model/index.ts";

export type PodUse =
  | { readonly is: "uses"; readonly uses: readonly AddressUse[] }
  /** It exists, and does not say yet which addresses it has. */
  | { readonly is: "starting" }
  /** On the host's network, without a node, or finished. */
  | { readonly is: "none" };

export function podUse(id: { readonly namespace: string; readonly name: string }, value: unknown): PodUse {
  const { metadata, spec, status } = recordAt(value);
  const { nodeName, hostNetwork } = recordAt(spec);
  if (hostNetwork === true) return { is: "none" };
  const { annotations } = recordAt(metadata);
  const notes = recordAt(annotations) as StringMap; // texts, by the API server's own schema
  const { phase = "" } = recordAt(status);
  if (isPodFinished({ metadata: recordAt(metadata), phase: String(phase), annotations: notes })) return { is: "none" };
  // One without a node has no address, but its plugin may be called at any moment.
  if (typeof nodeName !== "string" || nodeName === "") return { is: "starting" };
  const ipNetworks = addressesOf(recordAt(status), notes);
  if (ipNetworks.length === 0) return { is: "starting" };
  const naming = workloadEndpointName({ node: nodeName, orchestrator: "k8s", pod: id.name, endpoint: "eth0" });
  const name = naming.is === "name" ? naming.name : id.name;
  const uses = usesOfWorkload({
    metadata: { namespace: id.namespace, name },
    spec: { node: nodeName, pod: id.name, ipNetworks },
  });
  return { is: "uses", uses };
}

/** Of what cannot be read nobody knows which address it is, so the pod counts as one that starts. */
function addressesOf(status: JsonRecord, annotations: StringMap): readonly string[] {
  try {
    return podNetworks(status, annotations).map(({ text }) => text);
  } catch (error) {
    if (error instanceof FieldError) return [];
    throw error;
  }
}

function recordAt(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}
