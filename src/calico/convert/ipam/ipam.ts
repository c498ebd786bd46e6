// IPAM blocks and their affinities to what clients read. In Kubernetes a CR holds each, under a name that need not say its
// network; in etcd the value is already what clients read, and its key says the network.
import { canonicalCidr, cidrToText, parseCidrOrIp } from "../../../base/lib/index.ts";
import {
  type AllocationBlock,
  allocationBlock,
  blockAffinitySpec,
  type Flavour,
  type IpamBlockSpec,
  ipamBlockSpec,
  kinds,
  v1BlockAffinity,
} from "../../kinds/index.ts";
import { cleanJson, FieldError, type Key, keyToPath, pathToKey, readSchema } from "../../model/index.ts";
import { type Claim, createClaimProcessor, createConflictProcessor } from "../processor/conflict-processor.ts";
import { absent, type Processor } from "../processor/processor.ts";

export function createIpamBlockProcessor({ flavour }: { flavour: Flavour }): Processor {
  if (flavour === "etcdv3") {
    return createClaimProcessor({
      kind: "IPAMBlock",
      owner: "last",
      claim: (value, id) => storedBlock(value, id.name),
    });
  }
  return createConflictProcessor({
    kind: "IPAMBlock",
    schema: ipamBlockSpec,
    owner: "last",
    convert: ({ spec }) => {
      const cidr = requiredCidr(spec.cidr);
      const value = allocationBlock.go.write(toBlock(spec, cidr));
      return { path: requiredPath({ is: "Block", cidr }, "spec.cidr"), converted: { is: "value", value } };
    },
  });
}

function toBlock(spec: IpamBlockSpec, cidr: string): AllocationBlock {
  return {
    cidr,
    affinity: spec.affinity,
    affinity_claim_time: spec.affinityClaimTime,
    allocations: spec.allocations,
    unallocated: spec.unallocated,
    // The original makes a new list, which is never null.
    attributes: spec.attributes ?? [],
    sequenceNumber: spec.sequenceNumber,
    sequenceNumberForAllocation: spec.sequenceNumberForAllocation,
    deleted: spec.deleted,
  };
}

function storedBlock(value: unknown, name: string): Claim {
  const block = readSchema(allocationBlock, cleanJson(value), "");
  const cidr = parseCidrOrIp(block.cidr ?? "");
  if (cidr === undefined) throw new FieldError("cidr", "must be a CIDR");
  const text = allocationBlock.go.write({ ...block, cidr: cidrToText(cidr) });
  return { path: storedPath("IPAMBlock", name), converted: { is: "value", value: text } };
}

export function createBlockAffinityProcessor({ flavour }: { flavour: Flavour }): Processor {
  if (flavour === "etcdv3") {
    return createClaimProcessor({
      kind: "BlockAffinity",
      owner: "last",
      claim: (value, { name }) => {
        // A value of no bytes is an affinity without a state.
        const isEmpty = value === undefined || value === null || value === "";
        const affinity = readSchema(v1BlockAffinity, isEmpty ? {} : cleanJson(value), "");
        const text = v1BlockAffinity.go.write(affinity);
        return { path: storedPath("BlockAffinity", name), converted: { is: "value", value: text } };
      },
    });
  }
  return createConflictProcessor({
    kind: "BlockAffinity",
    schema: blockAffinitySpec,
    owner: "last",
    convert: ({ spec }, _id, origin) => {
      const cidr = requiredCidr(spec.cidr);
      const key: Key = { is: "BlockAffinity", affinityType: spec.type ?? "", host: spec.node ?? "", cidr };
      const path = requiredPath(key, "spec.node");
      // The original hides affinities marked as deleted when it lists, and sends them when it watches.
      if (spec.deleted && origin === "list") return { path, converted: absent("the affinity is marked as deleted") };
      const value = v1BlockAffinity.go.write({ state: spec.state, deleted: spec.deleted });
      return { path, converted: { is: "value", value } };
    },
  });
}

function requiredCidr(text: string | undefined): string {
  const network = canonicalCidr(text ?? "");
  if (network === undefined) throw new FieldError("spec.cidr", "must be a CIDR");
  return network.text;
}

function requiredPath(key: Key, field: string): string {
  const path = keyToPath(key);
  if (path === undefined) throw new FieldError(field, "must not be empty");
  return path;
}

/** The key under which etcd holds it is the key under which it is sent, once its network is in canonical form. */
function storedPath(kind: "IPAMBlock" | "BlockAffinity", name: string): string {
  const key = pathToKey(`${kinds[kind].etcdPrefix}${name}`);
  const path = key === undefined ? undefined : keyToPath(key);
  if (path === undefined) throw new FieldError("", "is stored under a key that names no network");
  return path;
}
