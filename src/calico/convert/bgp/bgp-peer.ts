// BGPPeer, passed through.
import { parseIp } from "../../../base/lib/index.ts";
import { type BgpPeerSpec, bgpPeerSpec } from "../../kinds/index.ts";
import { addressOfPeer, type Check, filled, firstProblem, isIp, isSelector } from "../object/checks.ts";
import { isDnsName } from "../object/name-rules.ts";
import type { Processor } from "../processor/processor.ts";
import { createPassThroughProcessor } from "../processor/whole-object.ts";

export function createBgpPeerProcessor(): Processor {
  return createPassThroughProcessor({
    kind: "BGPPeer",
    schema: bgpPeerSpec,
    problem: ({ spec }) => firstProblem(checks(spec)),
  });
}

function* checks(spec: BgpPeerSpec): Generator<Check> {
  yield ["spec.node", filled(spec.node, isDnsName), "must be a DNS name"];
  yield ["spec.nodeSelector", filled(spec.nodeSelector, isSelector), "must be a selector"];
  const isPeer = filled(spec.peerIP, (text) => addressOfPeer(text) !== undefined);
  yield ["spec.peerIP", isPeer, "must be an IP address, IPv4:PORT or [IPv6]:PORT"];
  yield ["spec.peerSelector", filled(spec.peerSelector, isSelector), "must be a selector"];
  yield ["spec.reachableBy", filled(spec.reachableBy, (text) => isIp(text)), "must be an IP address"];
  yield ["spec.reachableBy", isSameFamily(spec), "must be of the same family as peerIP"];
  for (const [at, filter] of (spec.filters ?? []).entries()) {
    yield [`spec.filters[${at}]`, isDnsName(filter), "must be a DNS name"];
  }
  const isWorkloadSelector = filled(spec.localWorkloadSelector, isSelector);
  yield ["spec.localWorkloadSelector", isWorkloadSelector, "must be a selector"];
}

function isSameFamily({ reachableBy = "", peerIP = "" }: BgpPeerSpec): boolean {
  if (reachableBy === "" || peerIP === "") return true;
  return parseIp(reachableBy)?.version === parseIp(addressOfPeer(peerIP) ?? "")?.version;
}
