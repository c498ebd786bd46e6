// CalicoNodeStatus: a request for a node's status, and the node's answer; passed through to clients.
import { int64, uint32 } from "../read-json.ts";
import { time } from "../scalars.ts";
import { integer, kept, list, optional, required, type SchemaType, struct, text } from "../schema.ts";

const atomic = { "x-kubernetes-list-type": "atomic" };

export const calicoNodeStatusSpec = struct({
  node: text(),
  classes: list(text({ enum: ["Agent", "BGP", "Routes"] }), { "x-kubernetes-list-type": "set" }),
  updatePeriodSeconds: optional(integer(uint32, { format: "int32" })),
});
export type CalicoNodeStatusSpec = SchemaType<typeof calicoNodeStatusSpec>;

const daemon = struct({
  state: text({ enum: ["Ready", "NotReady"] }),
  version: text(),
  routerID: text(),
  lastBootTime: text(),
  lastReconfigurationTime: text(),
});

const peers = list(
  struct({
    peerIP: text(),
    type: text({ enum: ["NodeMesh", "NodePeer", "GlobalPeer"] }),
    state: text({ enum: ["Idle", "Connect", "Active", "OpenSent", "OpenConfirm", "Established", "Close"] }),
    since: text(),
  }),
  atomic,
);

const routes = list(
  struct({
    type: text({ enum: ["FIB", "RIB"] }),
    destination: text(),
    gateway: text(),
    interface: text(),
    learnedFrom: kept(
      struct({ sourceType: text({ enum: ["Kernel", "Static", "Direct", "NodeMesh", "BGPPeer"] }), peerIP: text() }),
    ),
  }),
  atomic,
);

const amount = () => required(kept(integer(int64)));

export const calicoNodeStatusStatus = struct({
  lastUpdated: kept({ ...time, crd: { ...time.crd, nullable: true } }),
  agent: kept(struct({ birdV4: kept(daemon), birdV6: kept(daemon) })),
  bgp: kept(
    struct({
      numberEstablishedV4: amount(),
      numberNotEstablishedV4: amount(),
      numberEstablishedV6: amount(),
      numberNotEstablishedV6: amount(),
      peersV4: peers,
      peersV6: peers,
    }),
  ),
  routes: kept(struct({ routesV4: routes, routesV6: routes })),
});
export type CalicoNodeStatusStatus = SchemaType<typeof calicoNodeStatusStatus>;
