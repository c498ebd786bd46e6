// The current snapshot of each syncer and the changes after it, as bytes made once.
export {
  type CacheCodec,
  type Compression,
  compressionOf,
  type Dialect,
  dialectOf,
  type Piece,
  type Variant,
} from "./codec.ts";
export type { Position } from "./entry.ts";
export type { KeyInfo } from "./key-index.ts";
export {
  type Applied,
  type CacheLimits,
  type CacheReader,
  type Changes,
  KvCache,
  type Step,
} from "./kv-cache.ts";
export type { LegacyForm } from "./legacy-names.ts";
export type { Snapshot } from "./snapshot-shelf.ts";
