// Plain bytes to a run of chunks. Runs need nothing of each other, so they can be made once, kept, shared, and written
// one after the other behind any stream identifier.
import { compressSync } from "snappy";
import {
  checksumBytes,
  chunkType,
  codecOptions,
  headerBytes,
  identifierBody,
  maskedChecksum,
  maxContentBytes,
} from "./format.ts";

/** Opens every stream; a fresh copy each time would only waste memory, so this one must not be written to. */
export const streamIdentifier: Uint8Array = Uint8Array.of(
  chunkType.identifier,
  identifierBody.length,
  0,
  0,
  ...identifierBody,
);

type Content = { readonly plain: Uint8Array; readonly block: Uint8Array; readonly isCompressed: boolean };

/** The chunks that stand for `plain`, without a stream identifier, in memory from `allocate`. No bytes give no chunks. */
export function compressChunks(
  plain: Uint8Array,
  allocate: (size: number) => Uint8Array = (size) => new Uint8Array(size),
): Uint8Array {
  const contents: Content[] = [];
  let totalBytes = 0;
  for (let at = 0; at < plain.length; at += maxContentBytes) {
    const content = contentOf(plain.subarray(at, at + maxContentBytes));
    totalBytes += headerBytes + checksumBytes + content.block.length;
    contents.push(content);
  }
  const run = allocate(totalBytes);
  let at = 0;
  for (const content of contents) at = writeChunk(run, at, content);
  return run;
}

function contentOf(plain: Uint8Array): Content {
  const block = compressSync(plain, codecOptions);
  // Go's writer keeps a block only when it saves an eighth; the same rule gives the same bytes.
  const isCompressed = block.length < plain.length - Math.floor(plain.length / 8);
  return { plain, block: isCompressed ? block : plain, isCompressed };
}

/** Answers where the next chunk goes. */
function writeChunk(run: Uint8Array, at: number, { plain, block, isCompressed }: Content): number {
  const bodyLength = checksumBytes + block.length;
  const checksum = maskedChecksum(plain);
  run[at] = isCompressed ? chunkType.compressed : chunkType.plain;
  run[at + 1] = bodyLength;
  run[at + 2] = bodyLength >>> 8;
  run[at + 3] = bodyLength >>> 16;
  run[at + 4] = checksum;
  run[at + 5] = checksum >>> 8;
  run[at + 6] = checksum >>> 16;
  run[at + 7] = checksum >>> 24;
  run.set(block, at + headerBytes + checksumBytes);
  return at + headerBytes + bodyLength;
}
