// Go's gob encoding in TypeScript: a schema for each Go type, an encoder and a decoder for each schema.
// Knows nothing of the rest of this project, uses no node: modules, and runs in a browser. See README.md beside it.
// Every name here is public and stays; docs/reference/library.md lists them.
export { type DecoderOptions, decoder, type GobDecoder } from "./decode/decoder.ts";
export { defaultGobLimits, type GobLimits } from "./decode/limits.ts";
export type { DecodeText } from "./decode/reader.ts";
export { encoder, type GobEncoder } from "./encode/encoder.ts";
export { GobError, type GobErrorCode, gobErrorCodes } from "./error.ts";
export type { BasicTypes, Complex, Named, Schema, ValueOf } from "./schema/schema.ts";
export {
  array,
  bool,
  bytes,
  complex,
  float,
  int,
  interface_,
  lazy,
  made,
  map,
  opaque,
  opaqueBytes,
  pointer,
  raw,
  slice,
  string,
  struct,
  textBytes,
  time,
  uint,
} from "./schema/schema-make.ts";
export { type GobTime, isZeroTime, timeFromMillis, timeToMillis, zeroTime } from "./schema/time.ts";
