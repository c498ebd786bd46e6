// What `ipam check` prints of an audit: the original's lines, in its order, so that whoever reads them with a script still can.
import { rangeText } from "../../../../base/lib/index.ts";
import {
  type AddressUse,
  type Allocation,
  type Audited,
  type AuditReport,
  attributeText,
  cidrOf,
  userText,
} from "../../../../calico/ipam/index.ts";

export type CheckedFor = {
  readonly audited: Audited;
  readonly report: AuditReport;
  /** How many services have addresses from Calico; undefined: nothing says that any may. */
  readonly loadBalancers: number | undefined;
  readonly show: "counts" | "problems" | "all";
};

export function checkLines(checked: CheckedFor): string {
  const sections = [blockLines, poolLines, nodeLines, serviceLines, workloadLines, topLines, problemLines];
  const lines = ["Checking IPAM for inconsistencies...", "", ...sections.flatMap((section) => [...section(checked)])];
  return `${lines.join("\n")}\n`;
}

function* blockLines({ audited: { blocks }, report: { allocations }, show }: CheckedFor): Generator<string> {
  yield "Loading all IPAM blocks...";
  yield `Found ${blocks.length} IPAM blocks.`;
  const byBlock = Map.groupBy(allocations, ({ block }) => block);
  for (const { value } of blocks) {
    yield ` IPAM block ${cidrOf(value)} affinity=${value.owner ?? "<none>"}:`;
    if (show !== "all") continue;
    for (const { address, heldFor, attribute } of byBlock.get(cidrOf(value)) ?? []) {
      if (heldFor.is === "windows") yield `  ${address} belongs to Reserved for Windows`;
      yield `  ${address} allocated; attrs ${attributeText(attribute)}`;
    }
  }
  yield `IPAM blocks record ${allocations.length} allocations.`;
  yield "";
}

function* poolLines({ audited: { pools } }: CheckedFor): Generator<string> {
  const enabled = pools.filter(({ isEnabled }) => isEnabled);
  yield "Loading all IPAM pools...";
  for (const { range } of enabled) yield `  ${rangeText(range)}`;
  yield `Found ${enabled.length} active IP pools.`;
  yield "";
}

function* nodeLines(checked: CheckedFor): Generator<string> {
  const uses = usesOf(checked, "node");
  yield "Loading all nodes.";
  yield* belongs(checked, uses);
  yield `Found ${uses.length} node tunnel IPs.`;
  yield "";
}

function* serviceLines(checked: CheckedFor): Generator<string> {
  yield "Loading all service load balancer IPs.";
  if (checked.loadBalancers === undefined) {
    yield "No configuration for LoadBalancer kubecontroller found, skipping service check";
  } else {
    yield* belongs(checked, usesOf(checked, "service"));
    yield `Found ${checked.loadBalancers} service load balancer(s).`;
  }
  yield "";
}

function* workloadLines(checked: CheckedFor): Generator<string> {
  const uses = usesOf(checked, "workload");
  const { audited, report, loadBalancers } = checked;
  // Where services were not to be looked at, those that hold addresses are known to the audit all the same.
  const shown = audited.uses.filter(({ user }) => user.is !== "service" || loadBalancers !== undefined);
  const kept = report.allocations.filter(({ heldFor }) => heldFor.is === "windows");
  yield "Loading all workload endpoints.";
  yield* belongs(checked, uses);
  yield `Found ${uses.length} workload IPs.`;
  yield `Workloads and nodes are using ${addressesOf([...shown, ...kept]).length} IPs.`;
  yield "";
}

const mostNodes = 20;

function* topLines({ report: { allocationsByNode } }: CheckedFor): Generator<string> {
  yield "Loading all handles";
  yield `Looking for top (up to ${mostNodes}) nodes by allocations...`;
  for (const { node, count } of allocationsByNode.slice(0, mostNodes)) yield `  ${node} has ${count} allocations`;
  const [first] = allocationsByNode;
  const median = allocationsByNode[Math.floor(allocationsByNode.length / 2)];
  if (first !== undefined) yield `Node with most allocations has ${first.count}; median is ${median?.count}`;
  yield "";
}

function* problemLines(checked: CheckedFor): Generator<string> {
  const { report, show } = checked;
  const { addresses, handles, invalidBlocks } = report;
  const isTold = show !== "counts";
  const leaked = addressesOf(addresses.leaked);
  yield "Scanning for IPs that are allocated but not actually in use...";
  if (isTold) yield* addresses.leaked.map(leakedLine);
  yield `Found ${leaked.length} IPs that are allocated in IPAM but not actually in use.`;
  yield "Scanning for IPs that are in use by a workload or node but not allocated in IPAM...";
  if (isTold) yield* strayLines(report);
  const [outside, unallocated] = [addressesOf(addresses.outsidePools), addressesOf(addresses.notAllocated)];
  yield `Found ${outside.length} in-use IPs that are not in active IP pools.`;
  yield `Found ${unallocated.length} in-use IPs that are in active IP pools but have no corresponding IPAM allocation.`;
  yield "";
  yield "Scanning for IPAM handles with no matching IPs...";
  if (show === "all") for (const { value } of handles.idle) yield `  ${value.id} doesn't have any active IPs.`;
  yield `Found ${handles.idle.length} handles with no matching IPs (and ${handles.matched} handles with matches).`;
  yield "Scanning for IPs with missing handle...";
  if (isTold) for (const id of handles.missing) yield `  ${id} is in use in a block but doesn't exist.`;
  yield `Found ${handles.missing.length} handles mentioned in blocks with no matching handle resource.`;
  yield "Validating IPAMBlock structures...";
  for (const { cidr, says } of invalidBlocks) yield `  IPAMBlock BlockKey(cidr=${cidr}) is invalid: ${says}`;
  yield `Found ${invalidBlocks.length} invalid IPAMBlocks.`;
  const problems = leaked.length + outside.length + unallocated.length + handles.idle.length + invalidBlocks.length;
  yield `Check complete; found ${problems} problems.`;
}

function leakedLine({ address, attribute }: Allocation): string {
  return `  ${address} leaked; attrs ${attributeText(attribute)}`;
}

function* strayLines({ addresses }: AuditReport): Generator<string> {
  for (const address of addresses.twice.keys()) yield `  ${address} has multiple owners.`;
  for (const { address, user } of addresses.outsidePools) {
    yield `  ${address} in use by ${userText(user)} is not in any active IP pool.`;
  }
  for (const { address, user } of addresses.notAllocated) {
    yield `  ${address} in use by ${userText(user)} and in active IPAM pool but has no IPAM allocation.`;
  }
}

function usesOf({ audited }: CheckedFor, kind: AddressUse["user"]["is"]): AddressUse[] {
  return audited.uses.filter(({ user }) => user.is === kind);
}

function* belongs({ show }: CheckedFor, uses: readonly AddressUse[]): Generator<string> {
  if (show !== "all") return;
  for (const { address, user } of uses) yield `  ${address} belongs to ${userText(user)}`;
}

/** Each once. */
function addressesOf(items: readonly { readonly address: string }[]): string[] {
  return [...new Set(items.map(({ address }) => address))];
}
