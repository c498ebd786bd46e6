// What is wrong with a snappy stream, as a code that never changes and an offset into the stream.
export type SnappyErrorCode =
  | "SNAPPY_NO_IDENTIFIER"
  | "SNAPPY_BAD_IDENTIFIER"
  | "SNAPPY_UNSUPPORTED_CHUNK"
  | "SNAPPY_CHUNK_TOO_LONG"
  | "SNAPPY_CHUNK_TOO_SHORT"
  | "SNAPPY_CONTENT_TOO_LONG"
  | "SNAPPY_BAD_BLOCK"
  | "SNAPPY_BAD_CHECKSUM";

export class SnappyError extends Error {
  readonly code: SnappyErrorCode;
  /** Where in the stream the offending chunk begins. */
  readonly offset: number;

  constructor(code: SnappyErrorCode, says: { problem: string; offset: number }) {
    super(`${says.problem} (chunk at byte ${says.offset} of the snappy stream)`);
    this.name = "SnappyError";
    this.code = code;
    this.offset = says.offset;
  }
}
