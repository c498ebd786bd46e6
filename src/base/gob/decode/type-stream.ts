// The type definitions of one stream. All peers of one release open their streams with the same ones, and a server to which a
// thousand of them come at once would work out a thousand times how to read them. So a stream walks along a tree that all
// streams share: each definition leads from one table of types to the next, and what is compiled stays with its table.
//   (no types) ── 64 Envelope ──▶ (64) ── 65 MsgClientHello ──▶ (64, 65) ── …
// What is in a table follows from the bytes alone; whether a stream may have them (its ids, its limits) is looked at each time.
import { GobError } from "../error.ts";
import type { Node } from "../schema/schema.ts";
import { firstUserId, type WireType, WireTypeSchema, wireTypeId } from "../schema/wire-types.ts";
import { TypeTable } from "./decode-ops.ts";
import { KnownDefinitions } from "./known-definitions.ts";
import { type Op, readBy } from "./read-ops.ts";
import type { Reader } from "./reader.ts";

/** Peers choose what they define: beyond so many tables the tree begins anew, and a stream of more types leaves it. */
const mostShared = 256;
const mostSharedTypes = 32;

type Branch = { readonly table: TypeTable; readonly next: Map<number, Map<WireType, Branch>> };

class SharedTables {
  readonly knownDefinitions = new KnownDefinitions();
  #root = newBranch([]);
  #count = 0;

  get root(): Branch {
    return this.#root;
  }

  after(branch: Branch, id: number, wire: WireType): Branch {
    const { table, next } = branch;
    const known = next.get(id)?.get(wire);
    if (known !== undefined) return known;
    if (this.#count >= mostShared) {
      this.#root = newBranch([]);
      this.#count = 0;
    }
    const made = newBranch([...table.types, [id, wire]]);
    const alike = next.get(id);
    if (alike === undefined) next.set(id, new Map([[wire, made]]));
    else alike.set(wire, made);
    this.#count += 1;
    return made;
  }
}

function newBranch(types: Iterable<readonly [number, WireType]>): Branch {
  return { table: new TypeTable(types), next: new Map() };
}

const shared = new SharedTables();

/** Where a stream was in its definitions, to go back to. */
export type Mark = { readonly branch: Branch | undefined; readonly table: TypeTable; readonly types: number };

export class TypeStream {
  /** Undefined: the stream has left the tree, and its table is its own. */
  #branch: Branch | undefined = shared.root;
  #table: TypeTable = shared.root.table;

  /** Changes with each definition, unless the stream has left the tree. */
  get table(): TypeTable {
    return this.#table;
  }

  /** Reads the id of a value, and on the way any definitions, which may go on over several frames. */
  typeSequence(r: Reader): number {
    for (;;) {
      if (r.at >= r.end) r.nextFrame();
      const id = readId(r);
      if (id >= 0) return id;
      this.define(r, -id);
      // Inside an interface value a definition is followed by the length of what comes next; it says nothing new.
      if (r.at < r.end) r.uint();
    }
  }

  /** Reads the definition of a type. */
  define(r: Reader, id: number): void {
    const { types } = this.#table;
    if (id < firstUserId || types.has(id)) r.fail("GOB_DUPLICATE_TYPE", `type ${id} is defined already`);
    if (types.size >= r.limits.types) r.fail("GOB_LIMIT_TYPES", `more than ${r.limits.types} types`);
    const known = shared.knownDefinitions.find(r.data, r.at, r.end);
    if (known !== undefined && fieldsOf(known).length <= r.limits.fields) {
      r.at = r.end;
      this.#add(id, known, true);
      return;
    }
    const { depth, elements, at } = r;
    r.depth = Math.min(0, r.limits.depth - 8); // definitions nest four deep by themselves
    r.elements = r.limits.elements - r.limits.fields; // fields are their only elements, and have a limit of their own
    const wire = readWireType(r);
    r.depth = depth;
    r.elements = elements;
    const fields = fieldsOf(wire);
    if (new Set(fields.map((field) => field.Name)).size < fields.length) {
      r.fail("GOB_DUPLICATE_FIELD", `type ${id} has a field twice`);
    }
    const isKept =
      known === undefined && r.at === r.end && shared.knownDefinitions.keep(r.data.subarray(at, r.end), wire);
    this.#add(id, wire, isKept);
  }

  /** What reads a value of a received type; an error in it is reported where the value was met. */
  valueOp(r: Reader, id: number, node: Node): Op {
    try {
      return this.#table.compile(id, node);
    } catch (error) {
      if (!(error instanceof GobError)) throw error;
      throw new GobError(error.code, error.problem, { offset: r.streamOffset + r.at });
    }
  }

  mark(): Mark {
    return { branch: this.#branch, table: this.#table, types: this.#table.types.size };
  }

  /** Forgets what was defined since. Of a table of its own, what was compiled stays: definitions that are read again come out the same. */
  backTo({ branch, table, types }: Mark): void {
    this.#branch = branch;
    this.#table = table;
    if (branch !== undefined) return;
    for (const id of [...table.types.keys()].slice(types)) table.types.delete(id);
  }

  #add(id: number, wire: WireType, isKnown: boolean): void {
    const branch = this.#branch;
    if (branch !== undefined && isKnown && branch.table.types.size < mostSharedTypes) {
      this.#branch = shared.after(branch, id, wire);
      this.#table = this.#branch.table;
      return;
    }
    if (branch !== undefined) this.#table = new TypeTable(this.#table.types);
    this.#branch = undefined;
    this.#table.types.set(id, wire);
  }
}

/** A type id. Go cuts it to 32 bits; here it must fit. */
export function readId(r: Reader): number {
  const id = r.int();
  if (id > 0x7fff_ffff || id < -0x7fff_ffff) r.fail("GOB_LIMIT_TYPE_ID", "a type id beyond 31 bits");
  return id;
}

function fieldsOf(wire: WireType): NonNullable<WireType["StructT"]>["Field"] {
  return wire.StructT?.Field ?? [];
}

const wireTypeOp = new TypeTable().compile(wireTypeId, WireTypeSchema);

function readWireType(r: Reader): WireType {
  try {
    // The schema says what its op reads, and the schema is WireTypeSchema.
    return readBy(r, wireTypeOp) as WireType;
  } catch (error) {
    if (!(error instanceof GobError) || error.code !== "GOB_LIMIT_ELEMENTS") throw error;
    return r.fail("GOB_LIMIT_FIELDS", `a struct of more than ${r.limits.fields} fields`);
  }
}
