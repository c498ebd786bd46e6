// SHA-1 of short texts, for the names of pod interfaces. Our own because this layer touches no `node:` module and runs
// once per pod: a call into a crypto library costs more than the hash (bench/convert/pods.ts). Not for security.

/** Returns the first 11 hex digits. Each hasher owns its scratch memory, so make one per converter. */
export function createShortSha1(): (text: string) => string {
  const words = new Int32Array(80);
  const encoder = new TextEncoder();
  let bytes = new Uint8Array(512);

  return (text) => {
    if (text.length * 3 > bytes.length) bytes = new Uint8Array(text.length * 3);
    const length = encoder.encodeInto(text, bytes).written;
    let h0 = 0x67452301;
    let h1 = 0xefcdab89 | 0;
    let h2 = 0x98badcfe | 0;
    let h3 = 0x10325476;
    let h4 = 0xc3d2e1f0 | 0;
    const blocks = ((length + 8) >> 6) + 1;
    for (let block = 0; block < blocks; block++) {
      loadBlock(words, bytes, { length, start: block * 64, isLast: block === blocks - 1 });
      let a = h0;
      let b = h1;
      let c = h2;
      let d = h3;
      let e = h4;
      for (let at = 0; at < 80; at++) {
        let f: number;
        if (at < 20) f = ((b & c) | (~b & d)) + 0x5a827999;
        else if (at < 40) f = (b ^ c ^ d) + 0x6ed9eba1;
        else if (at < 60) f = ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
        else f = (b ^ c ^ d) + 0xca62c1d6;
        const next = (((a << 5) | (a >>> 27)) + f + e + (words[at] as number)) | 0; // 80 words, at < 80
        e = d;
        d = c;
        c = (b << 30) | (b >>> 2);
        b = a;
        a = next;
      }
      h0 = (h0 + a) | 0;
      h1 = (h1 + b) | 0;
      h2 = (h2 + c) | 0;
      h3 = (h3 + d) | 0;
      h4 = (h4 + e) | 0;
    }
    return hex8(h0) + hex8(h1).slice(0, 3);
  };
}

type Position = { length: number; start: number; isLast: boolean };

/** Fills the 80 words of one 64-byte block: message, then 0x80, then zeros, then the length in bits. */
function loadBlock(words: Int32Array, bytes: Uint8Array, { length, start, isLast }: Position): void {
  for (let at = 0; at < 16; at++) {
    const from = start + at * 4;
    words[at] =
      (padded(bytes, from, length) << 24) |
      (padded(bytes, from + 1, length) << 16) |
      (padded(bytes, from + 2, length) << 8) |
      padded(bytes, from + 3, length);
  }
  if (isLast) {
    words[14] = Math.floor(length / 0x20000000);
    words[15] = (length * 8) | 0;
  }
  for (let at = 16; at < 80; at++) {
    const word = (words[at - 3] ?? 0) ^ (words[at - 8] ?? 0) ^ (words[at - 14] ?? 0) ^ (words[at - 16] ?? 0);
    words[at] = (word << 1) | (word >>> 31);
  }
}

function padded(bytes: Uint8Array, at: number, length: number): number {
  if (at < length) return bytes[at] as number; // length is within the buffer
  return at === length ? 0x80 : 0;
}

function hex8(word: number): string {
  return (0x1_0000_0000 + (word >>> 0)).toString(16).slice(1);
}
