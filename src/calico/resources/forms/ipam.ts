// IPAM's own objects: blocks, affinities, handles and the configuration. To users they are v3 objects in every datastore; on
// disk they are older than v3:
//
//                  Kubernetes                              etcd, below /calico/ipam/v2/
//   IPAMBlock      CR named CIDRNAME                       assignment/ipv4/block/10.0.0.0-26   the block, claim time as
//                                                                                              affinity_claim_time
//   BlockAffinity  CR named NODE-CIDRNAME, with labels to  host/NODE/ipv4/block/10.0.0.0-26    {"state":…,"deleted":…}
//                  be found by; deleted is a text in
//                  crd.projectcalico.org/v1
//                                                          virtual/load-balancer/ipv4/…        the same, of services
//   IPAMHandle     CR named after the handle, lower case   handle/HANDLE                       {"block":…,"deleted":…}
//   IPAMConfig     CR named default                        config                              strict_affinity, …
//
// Their CRs keep labels in the metadata annotation and nothing else: `{}` for all but affinities.
import { canonicalCidr, type JsonRecord, parseJson } from "../../../base/lib/index.ts";
import {
  type AllocationBlock,
  allocationBlock,
  type IpamBlockSpec,
  ipamBlockSpec,
  v1BlockAffinity,
  v1IpamConfig,
  v1IpamHandle,
} from "../../kinds/index.ts";
import { cleanJson, FieldError, readSchema, recordOf, type Schema } from "../../model/index.ts";
import type { ApiKind } from "../api-kinds.ts";
import { affinityName, cidrName, cidrOfName, hostnameHash, type Id } from "../names.ts";
import { toV3, type V3Object } from "../v3-object.ts";
import { type CustomResourceForm, toCustomResource } from "./custom-resource.ts";

const ipamKinds = ["IPAMBlock", "BlockAffinity", "IPAMHandle", "IPAMConfig"] as const satisfies ApiKind[];
export type IpamKind = (typeof ipamKinds)[number];

export function isIpamKind(kind: ApiKind): kind is IpamKind {
  return (ipamKinds as readonly ApiKind[]).includes(kind);
}

export function toIpamCustomResource(object: V3Object, form: CustomResourceForm): JsonRecord {
  const labelled = object.kind === "BlockAffinity" ? withAffinityLabels(object) : object;
  const value = toCustomResource(labelled, { form, keeps: "labels" });
  if (object.kind !== "BlockAffinity" || form === "projectcalico.org") return value;
  return { ...value, spec: { ...object.spec, deleted: String(object.spec.deleted ?? false) } };
}

/** Affinities are looked up by them. */
function withAffinityLabels(object: V3Object): V3Object {
  const { node, type, cidr } = affinityOf(object);
  const labels = {
    ...object.metadata.labels,
    "projectcalico.org/affinity-type": type,
    "projectcalico.org/hostname-hash": hostnameHash(node),
    "projectcalico.org/ip-version": cidr.includes(":") ? "6" : "4",
  };
  return { ...object, metadata: { ...object.metadata, labels } };
}

/** What and where etcd stores. Throws FieldError for an object that does not say it. */
export function toIpamRecord(object: V3Object): { readonly id: Id; readonly value: JsonRecord } {
  switch (object.kind as IpamKind) {
    case "IPAMBlock": {
      const block = readSchema(ipamBlockSpec, object.spec, "spec");
      const cidr = networkOf(block.cidr);
      return { id: blockRecordId(cidr), value: asWritten(allocationBlock, toAllocationBlock(block, cidr)) };
    }
    case "BlockAffinity": {
      const { node, type, cidr } = affinityOf(object);
      const { state, deleted } = object.spec;
      const value = readSchema(v1BlockAffinity, cleanJson({ state, deleted }), "spec");
      return { id: affinityRecordId(node, cidr, type), value: asWritten(v1BlockAffinity, value) };
    }
    case "IPAMHandle": {
      const { handleID, block, deleted } = object.spec;
      if (typeof handleID !== "string" || handleID === "") throw new FieldError("spec.handleID", "must not be empty");
      const value = readSchema(v1IpamHandle, cleanJson({ block, deleted }), "spec");
      return { id: { namespace: "", name: handleID }, value: asWritten(v1IpamHandle, value) };
    }
    case "IPAMConfig": {
      const { strictAffinity: strict_affinity, autoAllocateBlocks: auto_allocate_blocks, ...rest } = object.spec;
      const value = readSchema(v1IpamConfig, cleanJson({ strict_affinity, auto_allocate_blocks, ...rest }), "spec");
      return { id: { namespace: "", name: "default" }, value: asWritten(v1IpamConfig, value) };
    }
  }
}

/** Throws FieldError for what cannot be read. */
export function fromIpamRecord(
  kind: IpamKind,
  { id, value, revision }: { id: Id; value: unknown; revision: string },
): V3Object {
  const made = (name: string, spec: unknown) => toV3(kind, { metadata: { name, resourceVersion: revision }, spec });
  switch (kind) {
    case "IPAMBlock": {
      const block = readSchema(allocationBlock, cleanJson(value), "");
      const cidr = networkOf(block.cidr);
      return made(cidrName(cidr) ?? "", toBlockSpec(block, cidr));
    }
    case "BlockAffinity": {
      // A value of no bytes is an affinity without a state.
      const isEmpty = value === undefined || value === null || value === "";
      const { state = "", deleted = false } = readSchema(v1BlockAffinity, isEmpty ? {} : cleanJson(value), "");
      const { node, type, cidr: network } = recordNetwork(id.name);
      const cidr = networkOf(network);
      return made(affinityName(node, cidr) ?? "", { state, node, type, cidr, deleted });
    }
    case "IPAMHandle": {
      const { block, deleted } = readSchema(v1IpamHandle, cleanJson(value), "");
      return made(id.name, { handleID: id.name, block, deleted });
    }
    case "IPAMConfig": {
      const { strict_affinity, auto_allocate_blocks, ...rest } = readSchema(v1IpamConfig, cleanJson(value), "");
      const spec = { strictAffinity: strict_affinity, autoAllocateBlocks: auto_allocate_blocks, ...rest };
      return made("default", spec);
    }
  }
}

/**
 * Where etcd keeps the object of that name. Undefined: the name does not say it. Of an affinity it says it where the network
 * is IPv4's: five numbers at the end, and before them the node. In IPv6's a node's name may end in what looks like a network.
 */
export function recordIdOfName(kind: IpamKind, name: string): Id | undefined {
  if (kind === "BlockAffinity") {
    const [, node, network = ""] = /^(.+)-((?:\d{1,3}-){4}\d{1,2})$/.exec(name) ?? [];
    const cidr = cidrOfName(network);
    return node === undefined || cidr === undefined ? undefined : affinityRecordId(node, cidr);
  }
  if (kind !== "IPAMBlock") return { namespace: "", name };
  const cidr = cidrOfName(name);
  return cidr === undefined ? undefined : blockRecordId(cidr);
}

/** What the v3 object of a record is called: its key says enough, even when its value is gone. */
export function nameOfRecord(kind: IpamKind, { name }: Id): string {
  if (kind !== "IPAMBlock" && kind !== "BlockAffinity") return name;
  const { node, cidr } = recordNetwork(name);
  return (node === "" ? cidrName(cidr) : affinityName(node, cidr)) ?? name;
}

/** [NODE/]ipv4/block/10.0.0.0-26, and for services virtual:load-balancer/ipv4/… */
function recordNetwork(name: string): { node: string; type: string; cidr: string } {
  const parts = name.split("/");
  const owner = parts.length > 3 ? (parts[0] ?? "") : "";
  const isVirtual = owner.startsWith(virtualWord);
  const node = isVirtual ? owner.slice(virtualWord.length) : owner;
  return { node, type: isVirtual ? "virtual" : "host", cidr: (parts.at(-1) ?? "").replace(/-(\d+)$/, "/$1") };
}

const virtualWord = "virtual:";

export function blockRecordId(cidr: string): Id {
  return { namespace: "", name: `ipv${cidr.includes(":") ? 6 : 4}/block/${cidr.replace("/", "-")}` };
}

export function affinityRecordId(node: string, cidr: string, type = "host"): Id {
  return { namespace: "", name: `${affinityRecordOwner(node, type)}/${blockRecordId(cidr).name}` };
}

/** Services' affinities have a place of their own in etcd. */
export function affinityRecordOwner(node: string, type: string): string {
  return type === "host" ? node : `${virtualWord}${node}`;
}

function affinityOf({ spec }: V3Object): { node: string; type: string; cidr: string } {
  const { node, type } = spec;
  if (typeof node !== "string" || node === "") throw new FieldError("spec.node", "must not be empty");
  const kindOfOwner = typeof type === "string" && type !== "" ? type : "host";
  return { node, type: kindOfOwner, cidr: networkOf(spec.cidr) };
}

function networkOf(cidr: unknown): string {
  const network = typeof cidr === "string" ? canonicalCidr(cidr) : undefined;
  if (network === undefined) throw new FieldError("spec.cidr", "must be a CIDR");
  return network.text;
}

function toAllocationBlock(spec: IpamBlockSpec, cidr: string): AllocationBlock {
  const { affinity, affinityClaimTime, allocations, unallocated, attributes, deleted } = spec;
  const { sequenceNumber, sequenceNumberForAllocation } = spec;
  return {
    cidr,
    affinity,
    affinity_claim_time: affinityClaimTime,
    allocations,
    unallocated,
    attributes: attributes ?? [],
    sequenceNumber,
    sequenceNumberForAllocation,
    deleted,
  };
}

function toBlockSpec(block: AllocationBlock, cidr: string): IpamBlockSpec {
  const { affinity, affinity_claim_time: affinityClaimTime, allocations, unallocated, attributes, deleted } = block;
  const { sequenceNumber, sequenceNumberForAllocation } = block;
  return {
    cidr,
    affinity,
    affinityClaimTime,
    strictAffinity: false,
    allocations,
    unallocated,
    attributes,
    sequenceNumber,
    sequenceNumberForAllocation,
    deleted,
  };
}

/** Members in Go's order, empty ones left out as Go does. */
function asWritten<T>(schema: Schema<T>, value: T): JsonRecord {
  return recordOf(parseJson(schema.go.write(value)), "");
}
