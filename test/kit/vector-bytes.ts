// Bytes as the vectors spell them: hex, with long runs of one byte as (byte x count), such as (00x65536).
export function vectorBytes(text: string): Uint8Array {
  const parts = [...text.matchAll(/\(([0-9a-f]{2})x(\d+)\)|([0-9a-f]+)/g)].map(([, byte, count, hex]) =>
    byte === undefined ? Buffer.from(hex ?? "", "hex") : Buffer.alloc(Number(count), Number.parseInt(byte, 16)),
  );
  return new Uint8Array(Buffer.concat(parts));
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
