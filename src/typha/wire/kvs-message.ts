// MsgKVs put together from pieces: a head that is always the same, the pieces as they are, two closing bytes.
//
//   length | Envelope id | 01 name of MsgKVs | MsgKVs id | count of bytes | 01 number of pieces | pieces | 00 | 00
import type { UpdateType } from "../../calico/model/basics.ts";
import { kvsHead } from "./frame.ts";
import { uintSize, writeUint } from "./uint.ts";

/** One MsgKVs of these pieces, in this order, as a gob message free of encoder state, in memory from `allocate`. */
export function kvsMessage(
  pieces: readonly Uint8Array[],
  allocate: (size: number) => Uint8Array = (size) => new Uint8Array(size),
): Uint8Array {
  let piecesBytes = 0;
  for (const piece of pieces) piecesBytes += piece.length;
  const { bytes, at: start } = openMessage(pieces.length, piecesBytes, allocate);
  let at = start;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  bytes.fill(0, at); // the ends of the message and of its envelope; the memory may have been used before
  return bytes;
}

/** A piece, and the type that the message says it has, whatever type it was encoded with (but not "unknown"). */
export type TypedPiece = { readonly bytes: Uint8Array; readonly type: UpdateType };

/** kvsMessage of pieces that each get their type here, so that one piece serves as new and as updated. */
export function typedKvsMessage(pieces: readonly TypedPiece[], allocate: (size: number) => Uint8Array): Uint8Array {
  const message = kvsMessage(
    pieces.map(({ bytes }) => bytes),
    allocate,
  );
  // Every piece was encoded with a type, so it ends in the type and the closing zero, and the message in two zeros.
  let end = message.length - 2;
  for (let index = pieces.length - 1; index >= 0; index -= 1) {
    const piece = pieces[index];
    if (piece === undefined) continue;
    message[end - 2] = piece.type;
    end -= piece.bytes.length;
  }
  return message;
}

function openMessage(
  count: number,
  piecesBytes: number,
  allocate: (size: number) => Uint8Array,
): { bytes: Uint8Array; at: number } {
  // A list without elements is left out, as gob leaves out every empty field.
  const listBytes = count === 0 ? 0 : 1 + uintSize(count) + piecesBytes;
  const valueBytes = listBytes + 1;
  const bodyBytes = kvsHead.length + uintSize(valueBytes) + valueBytes + 1;
  const bytes = allocate(uintSize(bodyBytes) + bodyBytes);
  let at = writeUint(bytes, 0, bodyBytes);
  bytes.set(kvsHead, at);
  at = writeUint(bytes, at + kvsHead.length, valueBytes);
  if (count > 0) {
    bytes[at] = 1;
    at = writeUint(bytes, at + 1, count);
  }
  return { bytes, at };
}
