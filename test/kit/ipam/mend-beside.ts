// The audit and the mender on a real datastore, for a campaign that knows by itself who uses which address.
import {
  type AuditMemory,
  audit,
  type Finding,
  isRipe,
  type MendResult,
  mendFindings,
  type PatienceLimits,
  type Question,
  type Reply,
  readAffinity,
  readHandle,
  readLoosely,
  remember,
} from "../../../src/calico/ipam/index.ts";
import { carryOutMending } from "../../../src/calico/ipam-audit/index.ts";
import type { IpamAccess } from "../../../src/calico/ipam-client/index.ts";
import { ipamBlockSpec } from "../../../src/calico/kinds/index.ts";
import { readSchema } from "../../../src/calico/model/index.ts";
import type { IpamObjects } from "../../../src/calico/resources/index.ts";
import { type AssignmentsPlan, type LiveAddresses, nodeNames, poolsOf } from "./assignments.ts";

export type MendingOf = {
  readonly objects: IpamObjects;
  readonly access: Pick<IpamAccess, "answer">;
  readonly live: LiveAddresses;
  readonly plan: AssignmentsPlan;
};

const now = (): bigint => BigInt(Date.now()) * 1_000_000n;

/** Handles and affinities before blocks, and blocks before who uses addresses, as an audit must. */
export async function findingsOf({ objects, live, plan }: MendingOf): Promise<readonly Finding[]> {
  const handles = await objects.list("IPAMHandle");
  const affinities = await objects.list("BlockAffinity");
  const blocks = await objects.list("IPAMBlock");
  return audit({
    blocks: blocks.items.flatMap(({ spec, revision }) => {
      const read = readLoosely(readSchema(ipamBlockSpec, spec, "spec"));
      return read.is === "block" ? [{ value: read.block, revision }] : [];
    }),
    unreadable: [...handles.unreadable, ...affinities.unreadable, ...blocks.unreadable].map(({ id, problem }) => {
      return { kind: "object", name: id.name, why: problem };
    }),
    affinities: affinities.items.map(({ spec, revision }) => ({ value: readAffinity(spec), revision })),
    handles: handles.items.map(({ spec, revision }) => ({ value: readHandle(spec), revision })),
    pools: poolsOf(plan),
    uses: live.uses(),
    starting: [...live.starting].map((pod) => ({ namespace: "default", pod })),
    nodes: nodeNames(plan.nodes),
    nowNs: now(),
  }).findings;
}

export async function mendRipe(
  of: MendingOf,
  memory: AuditMemory,
  patience: PatienceLimits,
): Promise<{
  readonly memory: AuditMemory;
  readonly findings: readonly Finding[];
  readonly results: readonly MendResult[];
}> {
  const findings = await findingsOf(of);
  const nowNs = now();
  const remembered = remember(memory, findings, nowNs);
  const ripe = findings.filter((finding) => isRipe(finding, { memory: remembered, nowNs, patience }));
  const steps = mendFindings(ripe, { pools: poolsOf(of.plan), cooldownSeconds: 0 });
  const { access } = of;
  const results = await carryOutMending(steps, { access, ask: async (question) => reply(of, question) }, {});
  return { memory: remembered, findings, results };
}

function reply({ live, plan }: MendingOf, question: Question): Reply {
  if (question.do === "ask for node") return { is: "existence", exists: nodeNames(plan.nodes).includes(question.node) };
  const { heldFor, address } = question;
  return {
    is: "users",
    users: live.useOf(address),
    isStarting: heldFor.is === "pod" && live.starting.has(heldFor.pod),
  };
}
