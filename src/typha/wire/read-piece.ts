// A piece back to what it says, for those who look at a running server. Only for pieces of encodeUpdate: it steps over
// their fields by length. pieces.ts has the layout.
import type { KvUpdate } from "../../calico/model/basics.ts";
import { revisionType } from "./pieces.ts";
import { readUint } from "./uint.ts";

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

type PieceContent = Omit<KvUpdate, "type">;

export function readPiece(piece: Uint8Array): PieceContent {
  const texts: (string | undefined)[] = [];
  let at = 0;
  let field = -1;
  while (at < piece.length) {
    const step = piece[at] ?? 0;
    field += step;
    if (step === 0 || field > 3) break;
    at += 1;
    // A revision is an interface value: its type's name and number, the length of all of it, and a zero before the text.
    if (field === 2) at = readUint(piece, at + revisionType.length).next + 1;
    const { value: length, next } = readUint(piece, at);
    texts[field] = utf8.decode(piece.subarray(next, next + length));
    at = next + length;
  }
  return { path: texts[0] ?? "", value: texts[1], revision: texts[2] ?? "", v3ResourceVersion: texts[3] ?? "" };
}
