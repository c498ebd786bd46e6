// BGPPeer: who a node peers with; passed through to clients.
import { int32 } from "../read-json.ts";
import { asNumber, duration } from "../scalars.ts";
import { flag, integer, list, optional, type SchemaType, struct, text } from "../schema.ts";
import { bgpPassword } from "./bgp-password.ts";
import { celRules, isFilled, isOn, notBoth } from "./cel.ts";

const selector = () => text({ maxLength: 1024 });
const hasAsNumber = "(has(self.asNumber) && self.asNumber != 0)";

export const bgpPeerSpec = struct(
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
    reversePeering: optional(text({ enum: ["Auto", "Manual"] })),
  },
  celRules(
    notBoth("node", "nodeSelector"),
    notBoth("peerIP", "peerSelector"),
    notBoth("peerIP", "localWorkloadSelector"),
    notBoth("peerSelector", "localWorkloadSelector"),
    {
      rule: `!${isFilled("peerSelector")} || !${hasAsNumber}`,
      message: "asNumber must not be given with peerSelector",
      reason: "FieldValueForbidden",
    },
    {
      rule: `!${isFilled("localWorkloadSelector")} || ${hasAsNumber}`,
      message: "localWorkloadSelector needs an asNumber",
    },
    {
      rule: `!${isFilled("reachableBy")} || ${isFilled("peerIP")}`,
      message: "reachableBy needs a peerIP",
      reason: "FieldValueForbidden",
    },
    {
      rule: `!${isOn("keepOriginalNextHop")} || !has(self.nextHopMode)`,
      message: "keepOriginalNextHop and nextHopMode must not both be given; nextHopMode is the newer",
      reason: "FieldValueForbidden",
    },
  ),
);
export type BgpPeerSpec = SchemaType<typeof bgpPeerSpec>;
