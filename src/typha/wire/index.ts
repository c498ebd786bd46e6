// The Typha protocol: messages, both ends' machines, and the bytes that are made once and shared. No sockets, no timers.
export { type ClientEvent, ClientMachine, type ClientOptions } from "./client-machine.ts";
export { clientFrame, clientPreamble, frame, serverPreamble } from "./frame.ts";
export { kvsMessage, typedKvsMessage } from "./kvs-message.ts";
export * from "./messages.ts";
export { encodeUpdate, readPiece, valueEndOf } from "./pieces.ts";
export { type ServerDecision, ServerMachine } from "./server-machine.ts";
export {
  type ServerStream,
  type ServerStreams,
  serverStreams,
  snappyStream,
  zstdStream,
} from "./streams.ts";
export { type CloseReason, closeSeverity } from "./wire-error.ts";
