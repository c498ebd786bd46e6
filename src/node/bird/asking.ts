// A second door, for probes that run every ten seconds: BIRD is asked and its answer read, and nothing that configures it is loaded.
export { type AskOptions, askBird, type BirdLine } from "./control-socket.ts";
export { type Peer, type Protocol, type Protocols, peersOf, readProtocols } from "./protocols.ts";
