// CalicoNodeStatus: a request for a node's status, and the node's answer; passed through to clients.
import {
  int64,
  integer,
  kept,
  lazy,
  list,
  optional,
  required,
  type SchemaType,
  struct,
  text,
  time,
  uint32,
} from "../../model/index.ts";
import { always, type Check, fields } from "../checks/check.ts";
import { name, requiredList, required as requiredTag, unique, within } from "../checks/tags.ts";
import { cell, listCell, nameCell } from "../columns.ts";
import { followedResource, specChecks } from "../kind.ts";

const atomic = { "x-kubernetes-list-type": "atomic" };

export const calicoNodeStatusSpec = lazy(() =>
  struct({
    node: text(),
    classes: list(text({ enum: ["Agent", "BGP", "Routes"] }), { "x-kubernetes-list-type": "set" }),
    updatePeriodSeconds: optional(integer(uint32, { format: "int32" })),
  }),
);
export type CalicoNodeStatusSpec = SchemaType<typeof calicoNodeStatusSpec>;

const daemon = lazy(() =>
  struct({
    state: text({ enum: ["Ready", "NotReady"] }),
    version: text(),
    routerID: text(),
    lastBootTime: text(),
    lastReconfigurationTime: text(),
  }),
);

const peers = lazy(() =>
  list(
    struct({
      peerIP: text(),
      type: text({ enum: ["NodeMesh", "NodePeer", "GlobalPeer"] }),
      state: text({ enum: ["Idle", "Connect", "Active", "OpenSent", "OpenConfirm", "Established", "Close"] }),
      since: text(),
    }),
    atomic,
  ),
);

const routes = lazy(() =>
  list(
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
  ),
);

const amount = () => required(kept(integer(int64)));

export const calicoNodeStatusStatus = lazy(() =>
  struct({
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
  }),
);
export type CalicoNodeStatusStatus = SchemaType<typeof calicoNodeStatusStatus>;

const needed: Check<unknown> = always<unknown>(undefined, requiredTag);

/** A rule for whatever is given, and another for what is not. */
const givenAnd =
  <T>(check: Check<T>, missing: Check<T> = needed): Check<T> =>
  (value, at) =>
    value === undefined ? missing(value, at) : check(value, at);

const checks = () =>
  fields<CalicoNodeStatusSpec>({
    node: always("", requiredTag, name),
    classes: givenAnd<readonly unknown[]>(always<readonly unknown[]>([], unique), requiredList),
    updatePeriodSeconds: givenAnd(always<number | bigint>(0, ...within(0, 86400))),
  });

export const calicoNodeStatus = followedResource("CalicoNodeStatus", {
  carries: "optional",
  names: ["caliconodestatus", "caliconodestatuses", "nodestatus", "nodestatuses"],
  columns: {
    ps: [nameCell, cell("NODE", "spec.node")],
    wide: [nameCell, cell("NODE", "spec.node"), listCell("CLASSES", "spec.classes")],
  },
  rights: { node: ["list", "watch", "update", "status:update"] },
  schema: { spec: calicoNodeStatusSpec, status: calicoNodeStatusStatus },
  newGroup: {
    columns: [
      ["Node", ".spec.node", "string"],
      ["Classes", ".spec.classes", "string"],
    ],
  },
  checks: specChecks(checks),
});
