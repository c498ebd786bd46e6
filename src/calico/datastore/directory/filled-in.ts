// What a server fills into an object before it stores it, where a manifest has not said it: a uid, and which directions a policy polices.
import { createHash } from "node:crypto";
import { isRecord, type JsonRecord } from "../../../base/lib/index.ts";
import type { Kind } from "../../kinds/index.ts";
import type { ObjectId } from "../datastore.ts";
import { metadataOf } from "../object-id.ts";

export function filledIn(value: JsonRecord, kind: Kind, id: ObjectId): JsonRecord {
  return withStableUid(withPolicyTypes(value), kind, id);
}

/** Clients are sent uids, and some conversions need one; made from the name, it is the same after a restart and on every server that reads the same folder. */
function withStableUid(value: JsonRecord, kind: Kind, id: ObjectId): JsonRecord {
  const metadata = metadataOf(value);
  if (metadata.uid !== undefined) return value;
  return { ...value, metadata: { ...metadata, uid: stableUid(kind, id) } };
}

export function stableUid(kind: Kind, id: ObjectId): string {
  return uidOf(`${kind}/${id.namespace}/${id.name}`);
}

// The form of a name-based UUID: version 5, variant 10.
function uidOf(name: string): string {
  const bytes = createHash("sha1").update("cattail directory\u0000").update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

const calicosPolicies = ["NetworkPolicy", "GlobalNetworkPolicy", "StagedNetworkPolicy", "StagedGlobalNetworkPolicy"];

/**
 * Which directions a policy polices. In a cluster the API server fills that into a NetworkPolicy of Kubernetes, calicoctl (or Calico's API
 * server) into what is written as projectcalico.org/v3. Without it a policy means something else: Calico's would close the other direction,
 * too, and Kubernetes' would leave it open. What is written as crd.projectcalico.org/v1 is what is stored, and stays as it is.
 */
export function withPolicyTypes(value: JsonRecord): JsonRecord {
  const { apiVersion, kind, spec } = value;
  if (!isRecord(spec)) return value;
  if (apiVersion === "networking.k8s.io/v1" && kind === "NetworkPolicy" && isEmpty(spec.policyTypes))
    return { ...value, spec: { ...spec, policyTypes: isEmpty(spec.egress) ? ["Ingress"] : ["Ingress", "Egress"] } };
  const isCalicos = apiVersion === "projectcalico.org/v3" && calicosPolicies.some((one) => one === kind);
  if (!isCalicos || !isEmpty(spec.types) || spec.stagedAction === "Delete") return value;
  return { ...value, spec: { ...spec, types: calicosTypes(spec) } };
}

function calicosTypes({ ingress, egress }: JsonRecord): readonly string[] {
  if (isEmpty(egress)) return ["Ingress"];
  return isEmpty(ingress) ? ["Egress"] : ["Ingress", "Egress"];
}

/** What is no list at all is left for the conversion to say. */
function isEmpty(list: unknown): boolean {
  return list === undefined || list === null || (Array.isArray(list) && list.length === 0);
}
