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

/** The chunks that stand for `plain`, without a stream identifier. No bytes give no chunks. */
export function compressChunks(plain: Uint8Array): Uint8Array {
  if (plain.length === 0) return new Uint8Array(0);
  if (plain.length <= maxContentBytes) return joinChunk(plain);
  const chunks: Uint8Array[] = [];
  let totalBytes = 0;
  for (let at = 0; at < plain.length; at += maxContentBytes) {
    const chunk = joinChunk(plain.subarray(at, at + maxContentBytes));
    totalBytes += chunk.length;
    chunks.push(chunk);
  }
  const run = new Uint8Array(totalBytes);
  let at = 0;
  for (const chunk of chunks) {
    run.set(chunk, at);
    at += chunk.length;
  }
  return run;
}

function joinChunk(plain: Uint8Array): Uint8Array {
  const block = compressSync(plain, codecOptions);
  // Go's writer keeps a block only when it saves an eighth; the same rule gives the same bytes.
  const isWorthIt = block.length < plain.length - Math.floor(plain.length / 8);
  const content = isWorthIt ? block : plain;
  const bodyLength = checksumBytes + content.length;
  const checksum = maskedChecksum(plain);
  const chunk = new Uint8Array(headerBytes + bodyLength);
  chunk[0] = isWorthIt ? chunkType.compressed : chunkType.plain;
  chunk[1] = bodyLength;
  chunk[2] = bodyLength >>> 8;
  chunk[3] = bodyLength >>> 16;
  chunk[4] = checksum;
  chunk[5] = checksum >>> 8;
  chunk[6] = checksum >>> 16;
  chunk[7] = checksum >>> 24;
  chunk.set(content, headerBytes + checksumBytes);
  return chunk;
}
