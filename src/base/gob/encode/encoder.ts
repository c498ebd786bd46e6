// Values in, gob bytes out. Two ways to use one encoder:
//   encode(value)           like Go's Encoder: each definition goes out once, in front of the first value that needs it
//   preamble(), message(v)  every definition up front, then messages that depend on nothing but the value, so that the
//                           same bytes can go to any number of streams that began with the preamble

import { GobError } from "../error.ts";
import { base, type Node, type Schema } from "../schema/schema.ts";
import { writeOp, writePayload } from "./encode-ops.ts";
import { partsOf, TypeTable, withParts } from "./type-table.ts";
import { putUint, type TypeEntry, uintWidth, Writer } from "./writer.ts";

// Room for a frame's length in front of it, so that the frame is never moved.
const lengthRoom = 9;

/** An encoder for values of one schema. */
export function encoder<T>(schema: Schema<T>): GobEncoder<T> {
  return new GobEncoder(schema);
}

/** Uint8Array<ArrayBuffer>, in words that a TypeScript older than 5.7 understands too: test/system/package.test.ts. */
type Bytes = ReturnType<typeof Uint8Array.of>;

type Payload = (w: Writer, value: unknown) => void;

/**
 * Values in, bytes out: encode() for one stream, which learns each type once; preamble() and message() for bytes that
 * many streams share. encoder() makes one.
 */
export class GobEncoder<T> {
  readonly #schema: Schema<T>;
  readonly #types = new TypeTable();
  readonly #announced: ReadonlySet<TypeEntry>;
  readonly #writer: Writer;
  readonly #payload: Payload;
  /** Ids whose definitions encode() has sent. */
  readonly #sent = new Set<number>();

  constructor(schema: Schema<T>) {
    this.#schema = schema;
    this.#announced = announceable(schema, this.#types);
    this.#payload = writePayload(schema);
    this.#writer = new Writer(this.#types, 4096);
  }

  /** As message(), but in memory that the next call on this encoder writes over: for who copies it at once anyway. */
  borrowMessage(value: T): Bytes {
    const frame = this.#frame(this.#schema, this.#payload, value);
    this.#checkAnnounced();
    return frame;
  }

  #checkAnnounced(): void {
    for (const entry of this.#writer.used) {
      if (this.#announced.has(entry)) continue;
      throw new GobError("GOB_NOT_ANNOUNCED", "the value holds a basic slice in an interface: register it by name");
    }
  }

  /** The next bytes of a stream of its own: the definitions that are new, then the value. */
  encode(value: T): Bytes {
    return this.#withDefinitions(this.#frame(this.#schema, this.#payload, value));
  }

  /** As encode(), for a stream that holds values of several types. */
  encodeAs<U>(schema: Schema<U>, value: U): Bytes {
    return this.#withDefinitions(this.#frame(schema, writePayload(schema), value));
  }

  #withDefinitions(frame: Uint8Array): Uint8Array<ArrayBuffer> {
    const parts: Uint8Array[] = [];
    for (const entry of this.#writer.used) {
      if (this.#sent.has(entry.id)) continue; // and its parts with it
      for (const part of withParts(entry)) {
        if (this.#sent.has(part.id)) continue;
        this.#sent.add(part.id);
        parts.push(this.#types.definition(part));
      }
    }
    return concatenate([...parts, frame]);
  }

  /** Every definition this schema can need, in front of the first message() of a stream. */
  preamble(): Bytes {
    return concatenate([...this.#announced].map((entry) => this.#types.definition(entry)));
  }

  /** One value for any stream that began with the preamble: the same value gives the same bytes, always. */
  message(value: T): Bytes {
    return this.borrowMessage(value).slice();
  }

  /**
   * A part of messages, encoded once: an element of a slice, a map or an array, or a field that is not zero. Put it
   * where the schema says raw(part), on streams that began with preamble(): encode() does not know which types it holds.
   * Valid for this encoder's ids.
   */
  element<E>(part: Schema<E>, value: E): Bytes {
    const w = this.#writer;
    if (w.used.size > 0) w.used.clear(); // it makes a new table even where there is nothing to clear
    w.length = 0;
    write(w, writeOp(part).write, value);
    if (w.used.size > 0) this.#checkAnnounced();
    return w.take();
  }

  #frame(schema: Node, payload: Payload, value: unknown): Uint8Array<ArrayBuffer> {
    const w = this.#writer;
    w.used.clear();
    w.length = lengthRoom;
    w.typeId(schema);
    write(w, payload, value);
    const count = w.length - lengthRoom;
    const start = lengthRoom - uintWidth(count);
    putUint(w.bytes, start, count);
    return w.bytes.subarray(start, w.length);
  }
}

function write(w: Writer, payload: Payload, value: unknown): void {
  try {
    payload(w, value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new GobError("GOB_VALUE", "a value nested deeper than the stack: does it hold itself?", { cause: error });
  }
}

/** The types reachable from a schema, registered ones included, in the order of their definitions. */
function announceable(schema: Node, types: TypeTable): ReadonlySet<TypeEntry> {
  const found = new Set<TypeEntry>();
  const seen = new Set<Node>();
  let wave: readonly Node[] = [schema];
  while (wave.length > 0) {
    const registered: Node[] = [];
    for (const node of wave) {
      const entry = types.entryOf(node);
      if (entry !== undefined) withParts(entry, found);
      registered.push(...registeredIn(node, seen));
    }
    wave = registered;
  }
  return found;
}

/** The types registered for the interfaces inside a schema. Basic names are not among them: few streams need any. */
function registeredIn(node: Node, seen: Set<Node>): Node[] {
  const target = base(node);
  if (seen.has(target)) return [];
  seen.add(target);
  if (target.kind === "interface") return [...target.registry().values()];
  return partsOf(target).flatMap((part) => registeredIn(part, seen));
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
