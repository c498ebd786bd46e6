// BGPPeer: who a node peers with; passed through to clients.

import { parseIp } from "../../../base/lib/index.ts";
import {
  asNumber,
  duration,
  flag,
  int32,
  integer,
  lazy,
  list,
  optional,
  type SchemaType,
  struct,
  text,
} from "../../model/index.ts";
import { always, each, fields, filled, type Problem } from "../checks/check.ts";
import { addressOfPeer, ipAndPort, name, reachableBy, selector as selectorTag } from "../checks/tags.ts";
import { type Column, cell, nameCell, valueAt } from "../columns.ts";
import { followedResource, specChecks } from "../kind.ts";
import { celRules, isFilled, isOn, notBoth } from "../parts/cel.ts";
import { bgpPassword } from "./bgp-password.ts";

/** Twice, as the original's schema has it: what breaks it is told twice. */
const autoOrManual = { enum: ["Auto", "Manual"] };
const selector = () => text({ maxLength: 1024 });
const hasAsNumber = "(has(self.asNumber) && self.asNumber != 0)";

export const bgpPeerSpec = lazy(() =>
  struct(
    {
      node: text({ maxLength: 253 }),
      nodeSelector: selector(),
      peerIP: text({ maxLength: 64 }),
      asNumber,
      localASNumber: optional(asNumber),
      peerSelector: selector(),
      keepOriginalNextHop: flag(),
      nextHopMode: optional(text({ enum: ["Auto", "Self", "Keep"] })),
      password: bgpPassword,
      sourceAddress: text({ enum: ["UseNodeIP", "None"] }),
      maxRestartTime: duration(),
      keepaliveTime: duration(),
      numAllowedLocalASNumbers: optional(integer(int32, { format: "int32" })),
      ttlSecurity: optional(integer({ min: 0, max: 255 })),
      reachableBy: text({ maxLength: 64 }),
      filters: list(text(), { "x-kubernetes-list-type": "atomic" }),
      localWorkloadSelector: selector(),
      reversePeering: optional(text({ allOf: [autoOrManual, autoOrManual] })),
    },
    celRules(
      notBoth("node", "nodeSelector"),
      notBoth("peerIP", "peerSelector"),
      {
        rule: `!${isFilled("peerSelector")} || !${hasAsNumber}`,
        message: "asNumber must be empty when peerSelector is set",
        reason: "FieldValueForbidden",
      },
      ...["peerIP", "peerSelector"].map((name) => ({
        ...notBoth(name, "localWorkloadSelector"),
        message: `${name} must be empty when localWorkloadSelector is set`,
      })),
      {
        rule: `!${isFilled("localWorkloadSelector")} || ${hasAsNumber}`,
        message: "asNumber is required when localWorkloadSelector is set",
      },
      {
        rule: `!${isFilled("reachableBy")} || ${isFilled("peerIP")}`,
        message: "reachableBy must be empty when peerIP is empty",
        reason: "FieldValueForbidden",
      },
      {
        rule: `!${isOn("keepOriginalNextHop")} || !has(self.nextHopMode)`,
        message:
          "keepOriginalNextHop and nextHopMode cannot both be set; keepOriginalNextHop is deprecated, use nextHopMode instead",
        reason: "FieldValueForbidden",
      },
    ),
  ),
);
export type BgpPeerSpec = SchemaType<typeof bgpPeerSpec>;

const checks = () =>
  fields<BgpPeerSpec>(
    {
      node: filled(name),
      nodeSelector: filled(selectorTag),
      peerIP: filled(ipAndPort),
      peerSelector: filled(selectorTag),
      reachableBy: filled(reachableBy),
      filters: each(always("", name)),
      localWorkloadSelector: filled(selectorTag),
    },
    familyProblems,
  );

function* familyProblems({ reachableBy: gateway = "", peerIP = "" }: BgpPeerSpec): Generator<Problem> {
  if (gateway === "" || peerIP === "") return;
  const [here, there] = [parseIp(gateway), parseIp(addressOfPeer(peerIP) ?? "")];
  if (here === undefined || there === undefined || here.version === there.version) return;
  yield {
    field: "spec.reachableBy",
    rule: "must be of the same family as peerIP",
    name: "ReachableBy",
    value: gateway,
    reason: "ReachableBy and PeerIP address family mismatched",
  };
}

const peersNode: Column = {
  heading: "NODE",
  cell: (object) => String(valueAt(object, "spec.node") || valueAt(object, "spec.nodeSelector") || "(global)"),
};

export const bgpPeer = followedResource("BGPPeer", {
  carries: "enforcement",
  names: ["bgppeer", "bgppeers", "bgpp", "bgpps", "bp", "bps"],
  columns: { ps: [nameCell, cell("PEERIP", "spec.peerIP"), peersNode, cell("ASN", "spec.asNumber", "0")] },
  rights: { node: ["list", "watch"] },
  schema: { spec: bgpPeerSpec },
  newGroup: {
    columns: [
      ["Node Selector", ".spec.nodeSelector", "string"],
      ["Node", ".spec.node", "string"],
      ["Local ASN", ".spec.localASNumber", "string"],
      ["Peer Selector", ".spec.peerSelector", "string"],
      ["Peer IP", ".spec.peerIP", "string"],
      ["Peer ASN", ".spec.asNumber", "string"],
    ],
  },
  checks: specChecks(checks),
  crossRules: [
    {
      before: ["create", "update"],
      needs: ["BGPFilter"],
      rule: "BGPPeer.Spec.Filters = '[a b]' (BGPFilter(s) not found), for those that are missing",
    },
  ],
});
