// Go's time.Time: a moment to the nanosecond with the offset of its zone, and its binary form (versions 1 and 2).
//   version(1) seconds since year 1 (8, big-endian) nanoseconds (4) offset in minutes (2; -1 is UTC) [offset seconds (1)]
import { GobError } from "../error.ts";

/** A moment as Go's time.Time has it. */
export type GobTime = {
  /** Seconds since 1970-01-01T00:00:00Z, negative before. */
  seconds: bigint;
  /** 0 to 999,999,999. */
  nanos: number;
  /** East of Greenwich; "utc" is Go's UTC proper, which is something else than a zone that happens to be at 0. */
  offsetSeconds: number | "utc";
};

const yearOneToUnixSeconds = 62_135_596_800n;

/** Go's zero time: year 1, UTC. A struct field that holds it is left out of the bytes. */
export const zeroTime: Readonly<GobTime> = Object.freeze({
  seconds: -yearOneToUnixSeconds,
  nanos: 0,
  offsetSeconds: "utc",
});

/** What IsZero is for times that came in UTC: year 1, as zeroTime. */
export function isZeroTime(time: GobTime): boolean {
  return time.nanos === 0 && time.offsetSeconds === "utc" && time.seconds === zeroTime.seconds;
}

/** The moment that Date.now() counts so, in UTC. */
export function timeFromMillis(epochMs: number): GobTime {
  const seconds = Math.floor(epochMs / 1000);
  return { seconds: BigInt(seconds), nanos: Math.floor((epochMs - seconds * 1000) * 1e6), offsetSeconds: "utc" };
}

/** The moment as Date.now() counts it; what is finer than a millisecond is cut off. */
export function timeToMillis(time: GobTime): number {
  return Number(time.seconds) * 1000 + Math.floor(time.nanos / 1e6);
}

export function encodeTime(time: GobTime): Uint8Array {
  const { seconds, nanos, offsetSeconds } = time;
  if (!Number.isInteger(nanos) || nanos < 0 || nanos > 999_999_999) {
    throw new GobError("GOB_VALUE", `nanos must be 0 to 999999999, not ${nanos}`);
  }
  let minutes = -1;
  let rest = 0;
  if (offsetSeconds !== "utc") {
    // Rounded down, where Go rounds towards zero and then reads its own -30 s back as +226 s: this way Go gets it right.
    minutes = Math.floor(offsetSeconds / 60);
    rest = offsetSeconds - minutes * 60;
    // -1 is taken to say UTC, and the field has 16 bits.
    if (!Number.isInteger(offsetSeconds) || minutes < -32768 || minutes > 32767 || offsetSeconds === -60) {
      throw new GobError("GOB_VALUE", `a zone offset of ${offsetSeconds} seconds has no binary form`);
    }
  }
  const bytes = new Uint8Array(rest === 0 ? 15 : 16);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, rest === 0 ? 1 : 2);
  view.setBigInt64(1, BigInt.asIntN(64, seconds + yearOneToUnixSeconds));
  view.setUint32(9, nanos);
  view.setInt16(13, minutes);
  if (rest !== 0) view.setUint8(15, rest);
  return bytes;
}

export function decodeTime(bytes: Uint8Array): GobTime {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = bytes.length === 0 ? 0 : view.getUint8(0);
  if (version !== 1 && version !== 2) throw new Error(`time of version ${version}`);
  if (bytes.length !== (version === 1 ? 15 : 16)) throw new Error(`time of ${bytes.length} bytes`);
  const seconds = BigInt.asIntN(64, view.getBigInt64(1) - yearOneToUnixSeconds);
  const nanos = view.getUint32(9);
  // Go lets this pass and then shows some other moment; no Go encoder writes it.
  if (nanos > 999_999_999) throw new Error(`time with ${nanos} nanoseconds`);
  const minutes = view.getInt16(13);
  // The last byte is added as an unsigned number, as Go does.
  const offset = minutes * 60 + (version === 2 ? view.getUint8(15) : 0);
  return { seconds, nanos, offsetSeconds: offset === -60 ? "utc" : offset };
}
