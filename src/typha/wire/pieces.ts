// One key/value's gob bytes, made once in its life: a SerializedUpdate as it stands inside a MsgKVs. The same piece goes
// into every delta and every snapshot, for every client; a message is a head, the pieces as they are, and a tail.
//
//   piece = 01 key | 01 value | 01 06 "string" 0c n 00 revision | 01 v3ResourceVersion | 03 updateType | 00
//           each preceded by how far its field number is from the one before; absent where empty, but for Revision,
//           because Go's client turns a missing one into the text "<nil>"
//
// Written by hand rather than through gob's encoder: it is the server's hottest encoder and mostly memcpy
// (bench/gob). pieces.test.ts holds it equal to the schema's own encoding.
import { type KvUpdate, updateType } from "../../calico/model/basics.ts";
import { readUint, readUintSize, uintSize, writeUint } from "./uint.ts";

const utf8 = new TextEncoder();
const readUtf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const revisionType = Uint8Array.of(0x06, 0x73, 0x74, 0x72, 0x69, 0x6e, 0x67, 0x0c); // name "string", builtin type 6

/** The gob bytes of one update; never to be written to, because everyone shares them. */
export function encodeUpdate(update: KvUpdate): Uint8Array {
  return encodeAscii(update) ?? encodeAny(update);
}

// Nearly everything Calico stores is ASCII: there a string's length is its byte length, so that one allocation of the
// right size is filled in place. Answers undefined on meeting anything else.
function encodeAscii(update: KvUpdate): Uint8Array | undefined {
  const { path, value = "", revision, v3ResourceVersion } = update;
  const bytes = new Uint8Array(
    textSize(path.length) +
      textSize(value.length) +
      revisionSize(revision.length) +
      textSize(v3ResourceVersion.length) +
      (update.type === updateType.unknown ? 1 : 3),
  );
  let isAscii = true;
  const put = (at: number, text: string): number => {
    const start = writeUint(bytes, at, text.length);
    const { read, written } = utf8.encodeInto(text, start === 0 ? bytes : bytes.subarray(start));
    if (read !== text.length || written !== text.length) isAscii = false;
    return start + text.length;
  };
  layOut(bytes, update, put);
  return isAscii ? bytes : undefined;
}

function encodeAny(update: KvUpdate): Uint8Array {
  const texts = new Map<string, Uint8Array>();
  const bytesOf = (text: string): Uint8Array => {
    const known = texts.get(text) ?? utf8.encode(text);
    texts.set(text, known);
    return known;
  };
  const { path, value = "", revision, v3ResourceVersion } = update;
  const bytes = new Uint8Array(
    textSize(bytesOf(path).length) +
      textSize(bytesOf(value).length) +
      revisionSize(bytesOf(revision).length) +
      textSize(bytesOf(v3ResourceVersion).length) +
      (update.type === updateType.unknown ? 1 : 3),
  );
  layOut(
    bytes,
    update,
    (at, text) => {
      const raw = bytesOf(text);
      const start = writeUint(bytes, at, raw.length);
      bytes.set(raw, start);
      return start + raw.length;
    },
    (text) => bytesOf(text).length,
  );
  return bytes;
}

function layOut(
  bytes: Uint8Array,
  update: KvUpdate,
  put: (at: number, text: string) => number,
  sizeOf: (text: string) => number = (text) => text.length,
): void {
  const { path, value = "", revision, v3ResourceVersion } = update;
  let at = 0;
  let field = -1;
  const begin = (next: number): void => {
    bytes[at] = next - field;
    at += 1;
    field = next;
  };
  if (path !== "") {
    begin(0);
    at = put(at, path);
  }
  if (value !== "") {
    begin(1);
    at = put(at, value);
  }
  begin(2);
  bytes.set(revisionType, at);
  at += revisionType.length;
  const revisionBytes = sizeOf(revision);
  at = writeUint(bytes, at, 1 + uintSize(revisionBytes) + revisionBytes) + 1;
  at = put(at, revision);
  if (v3ResourceVersion !== "") {
    begin(3);
    at = put(at, v3ResourceVersion);
  }
  if (update.type !== updateType.unknown) {
    begin(5);
    bytes[at] = update.type;
  }
}

// Field number, length, text; nothing for an empty one.
function textSize(byteLength: number): number {
  return byteLength === 0 ? 0 : 1 + uintSize(byteLength) + byteLength;
}

function revisionSize(byteLength: number): number {
  const inner = 1 + uintSize(byteLength) + byteLength;
  return 1 + revisionType.length + uintSize(inner) + inner;
}

/**
 * Where a piece's key and value end. Two pieces of one key hold the same value when they agree up to here: behind it are
 * only revisions and the type.
 */
export function valueEndOf(piece: Uint8Array): number {
  const keyEnd = skipText(piece, 1);
  return piece[keyEnd] === 1 ? skipText(piece, keyEnd + 1) : keyEnd;
}

function skipText(bytes: Uint8Array, at: number): number {
  return at + readUintSize(bytes, at) + readUint(bytes, at);
}

type PieceContent = Omit<KvUpdate, "type">;

/**
 * A piece back to what it says, for those who look at a running server. Only for pieces of encodeUpdate: it steps over
 * their fields by length.
 */
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
    if (field === 2) {
      at += revisionType.length;
      at += readUintSize(piece, at) + 1;
    }
    const end = skipText(piece, at);
    texts[field] = readUtf8.decode(piece.subarray(at + readUintSize(piece, at), end));
    at = end;
  }
  return { path: texts[0] ?? "", value: texts[1], revision: texts[2] ?? "", v3ResourceVersion: texts[3] ?? "" };
}
