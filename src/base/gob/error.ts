// What goes wrong between values and gob bytes: one error class, a stable code, and where in the stream it was seen.

/** Every code this library raises, with what it means. Codes are stable; the words of a message are not. */
export const gobErrorCodes = {
  GOB_SCHEMA: "a schema describes a type that Go or gob cannot have",
  GOB_VALUE: "a value to encode does not fit its schema",
  GOB_NOT_ANNOUNCED: "a state-free message needs a type that the preamble does not define",
  GOB_SPENT: "the decoder met an error before, or was ended; it takes no more bytes",
  GOB_TRUNCATED: "the stream ends inside a message",
  GOB_UNREAD: "the stream was ended with whole frames in it that next() was not asked for",
  GOB_EMPTY_FRAME: "a frame of length zero (Go reports it as the end of the stream)",
  GOB_BAD_UINT: "an integer whose length is not 1 to 8 bytes",
  GOB_SHORT_DATA: "a value runs past the end of its frame",
  GOB_BAD_TYPE: "a value, or a field of it, has a type that was never defined",
  GOB_DUPLICATE_TYPE: "a type definition for an id that is taken or reserved",
  GOB_DUPLICATE_FIELD: "a struct definition names a field twice (Go would decode one into what the other left)",
  GOB_EXTRA_DATA: "bytes behind a type definition in its frame",
  GOB_TYPE_MISMATCH: "the type that was sent cannot be decoded into the schema",
  GOB_FIELD_NUMBER: "a field number beyond the sender's own definition",
  GOB_SINGLETON: "a value that is no struct does not start with its zero byte",
  GOB_OUT_OF_RANGE: "a number does not fit the width in the schema",
  GOB_UNSAFE_INTEGER: 'a 64-bit integer does not fit a number; use { as: "bigint" }',
  GOB_ARRAY_LENGTH: "an array's count differs from the length in its type",
  GOB_UNKNOWN_NAME: "an interface value names a type that is not in the registry",
  GOB_NAME_TOO_LONG: "an interface value's type name is longer than 1024 bytes",
  GOB_OPAQUE: "a type with its own encoding refused its bytes",
  GOB_MAP_KEY: "a map key that Go cannot hash",
  GOB_LIMIT_MESSAGE: "a message is longer than limits.messageBytes",
  GOB_LIMIT_TYPES: "a stream defines more types than limits.types",
  GOB_LIMIT_FIELDS: "a struct definition has more fields than limits.fields",
  GOB_LIMIT_DEPTH: "values are nested deeper than limits.depth",
  GOB_LIMIT_ELEMENTS: "more elements than limits.elements, or a count that the bytes of the message cannot hold",
  GOB_LIMIT_FRAMES: "values go on in more further frames than limits.types, or take too long to put together",
  GOB_LIMIT_TYPE_ID: "a type id beyond 31 bits",
} as const;

/** One of gobErrorCodes. */
export type GobErrorCode = keyof typeof gobErrorCodes;

/** Bad bytes, or a value that does not fit its schema: a stable `code`, and the `offset` in a stream that is being read. */
export class GobError extends Error {
  override readonly name = "GobError";
  readonly code: GobErrorCode;
  /** What was seen, without code and place. */
  readonly problem: string;
  /** Bytes from the start of the stream to where the problem was seen; undefined where no stream is being read. */
  readonly offset: number | undefined;

  constructor(code: GobErrorCode, problem: string, options: { offset?: number; cause?: unknown } = {}) {
    const place = options.offset === undefined ? "" : ` at byte ${options.offset}`;
    super(`${problem}${place} (${code})`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.problem = problem;
    this.offset = options.offset;
  }
}
