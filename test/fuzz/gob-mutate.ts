// Streams bent a little: bytes changed with the frames kept whole, frames cut, swapped, doubled or joined.
import type { Random } from "../kit/random.ts";

const tellingBytes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 0x0c, 0x10, 0x20, 0x40, 0x7f, 0x80, 0xf7, 0xf8, 0xfc, 0xfe, 0xff];

export function mutate(random: Random, stream: Uint8Array, other: Uint8Array): Uint8Array {
  if (random.isOneIn(4)) return mutateBytes(random, stream);
  const frames = framesOf(stream);
  const times = 1 + random.below(3);
  for (let i = 0; i < times; i++) mutateFrames(random, frames, other);
  return joinFrames(frames);
}

function mutateFrames(random: Random, frames: Uint8Array[], other: Uint8Array): void {
  const at = random.below(frames.length + 1);
  const frame = frames[at];
  const kind = random.below(16);
  if (frame === undefined || kind === 0) {
    frames.splice(at, 0, random.pick(framesOf(other)));
    return;
  }
  if (kind === 1) frames.splice(at, 1);
  else if (kind === 2) frames.splice(random.below(frames.length), 0, frame);
  else if (kind <= 4) {
    const cut = random.below(frame.length + 1);
    frames.splice(at, 1, frame.subarray(0, cut), frame.subarray(cut));
  } else frames[at] = mutateBytes(random, frame);
}

function mutateBytes(random: Random, bytes: Uint8Array): Uint8Array {
  const at = random.below(bytes.length + 1);
  switch (random.below(8)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return splice(bytes, at, 0, [random.pick(tellingBytes)]);
    case 2:
      return splice(bytes, at, 1 + random.below(3), []);
    case 3: {
      const from = random.below(bytes.length + 1);
      return splice(bytes, at, 0, bytes.subarray(from, from + random.below(16)));
    }
    case 4:
      return splice(bytes, at, 1, [(bytes[at] ?? 0) ^ (1 << random.below(8))]);
    case 5:
      return splice(bytes, at, 1, [random.below(256)]);
    case 6:
      return splice(bytes, at, 1, [((bytes[at] ?? 0) + (random.isOneIn(2) ? 1 : -1)) & 0xff]);
    default:
      return splice(bytes, at, 1, [random.pick(tellingBytes)]);
  }
}

function splice(bytes: Uint8Array, at: number, drop: number, insert: ArrayLike<number>): Uint8Array {
  const tail = bytes.subarray(at + drop);
  const out = new Uint8Array(at + insert.length + tail.length);
  out.set(bytes.subarray(0, at));
  out.set(insert, at);
  out.set(tail, at + insert.length);
  return out;
}

/** The bodies of a stream's frames; what is no frame any more is the last of them. */
function framesOf(stream: Uint8Array): Uint8Array[] {
  const frames: Uint8Array[] = [];
  let at = 0;
  while (at < stream.length) {
    const first = stream[at] ?? 0;
    const width = first < 0x80 ? 0 : 0x100 - first;
    let count = width === 0 ? first : 0;
    for (let i = 1; i <= width; i++) count = count * 0x100 + (stream[at + i] ?? 0);
    const start = at + 1 + width;
    const end = Math.min(stream.length, start + count);
    if (width > 4 || start > stream.length) break;
    frames.push(stream.subarray(start, end));
    at = end;
  }
  return frames.length === 0 ? [stream] : frames;
}

export function joinFrames(frames: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(frames.reduce((sum, frame) => sum + frame.length + 3, 0));
  let at = 0;
  for (const frame of frames) {
    const count = frame.length;
    if (count >= 0x100) out[at++] = 0xfe;
    else if (count >= 0x80) out[at++] = 0xff;
    if (count >= 0x100) out[at++] = count >> 8;
    out[at++] = count & 0xff;
    out.set(frame, at);
    at += count;
  }
  return out.subarray(0, at);
}
