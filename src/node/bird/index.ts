// BIRD: from Calico's BGP objects to its configuration, its control socket, and what it says of Calico's peers.
export { type AskOptions, askBird } from "./control-socket.ts";
export { birdPart } from "./part/bird-part.ts";
export { birdMetrics } from "./part/metrics.ts";
export { type BirdPartOptions, birdOptions } from "./part/options.ts";
export { type Peer, type Protocols, peersOf, readProtocols } from "./protocols.ts";
export {
  type BirdSockets,
  type FamilyStatus,
  gatherStatus,
  type NodeBgpStatus,
  usualSockets,
} from "./status/gather.ts";
export { type NodeStatusOptions, nodeStatusPart } from "./status/node-status-part.ts";
export { bgpReportOf } from "./status/report.ts";
export { statusText } from "./status/tables.ts";
