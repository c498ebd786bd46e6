// BIRD: its control socket, and what it says of Calico's peers.
export { type AskOptions, askBird } from "./control-socket.ts";
export { type Peer, type Protocols, peersOf, readProtocols } from "./protocols.ts";
