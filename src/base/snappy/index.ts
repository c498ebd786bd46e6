// The snappy framing format, both ways, on a native block codec. Nothing in this folder has heard of Calico.

export { SnappyDecoder } from "./decode.ts";
export { compressChunks, streamIdentifier } from "./encode.ts";
export { SnappyError } from "./snappy-error.ts";
