// Kinds whose objects each become one key/value under a key that follows from the object's name. No state. Kinds that are
// sent whole (whole-object.ts) are built on this; those of which several objects may claim one key are in conflict-processor.ts.
import type { Kind } from "../../kinds/index.ts";
import { FieldError, type Key, keyToPath, type Schema } from "../../model/index.ts";
import { type Resource, readResource } from "../object/resource.ts";
import {
  attempt,
  type Converted,
  type ConvertedKv,
  deletion,
  type FieldProblem,
  invalidKv,
  objectName,
  type Processor,
  type ProcessorId,
  type ProcessorOutput,
  refused,
} from "./processor.ts";

type KeyedKind = {
  /** How users call it. */
  readonly kind: string;
  /** Undefined: an object of this name has no key. */
  key(id: ProcessorId): Key | undefined;
  /** What is wrong with an object that has no key, where that is not just a missing name. */
  readonly keyProblem?: FieldProblem;
  /** Throws FieldError for an object that cannot be read. */
  convert(value: unknown, id: ProcessorId): Converted<string>;
};

export function createKeyedProcessor({ kind, key, keyProblem, convert }: KeyedKind): Processor {
  const pathOf = (id: ProcessorId) => {
    const found = key(id);
    return found === undefined ? undefined : keyToPath(found);
  };
  return {
    set: (id, revision, value) => {
      const object = objectName(kind, id);
      const path = pathOf(id);
      if (path === undefined) return keyless(object, keyProblem);
      const converted = attempt(() => convert(value, id));
      if (converted instanceof FieldError) return unreadable(object, [deletion(path)], converted);
      return toOutput(converted, { object, path, revision });
    },
    delete: (id) => {
      const path = pathOf(id);
      return { kvs: path === undefined ? [] : [deletion(path)], problems: [] };
    },
  };
}

/** What is sent and said for a converted value under one path. */
export function toOutput(
  converted: Converted<string>,
  { object, path, revision }: { object: string; path: string; revision: string },
): ProcessorOutput {
  const warnings = converted.warnings ?? [];
  const output = (kv: ConvertedKv, found = warnings): ProcessorOutput => ({
    kvs: [kv],
    problems: found.map((warning) => ({ object, ...warning })),
  });
  switch (converted.is) {
    case "value":
      return output({ path, value: converted.value, revision, v3ResourceVersion: converted.v3ResourceVersion ?? "" });
    case "absent":
      return output(deletion(path));
    case "invalid":
      return output(invalidKv(path, revision), [...warnings, refused(converted.problem)]);
  }
}

const nameless: FieldProblem = { field: "metadata", rule: "must have a name" };

export function keyless(object: string, problem = nameless): ProcessorOutput {
  return { kvs: [], problems: [{ object, ...problem, effect: "dropped" }] };
}

/** An object that cannot be decoded: whatever was sent of it goes, and nobody else waits. */
export function unreadable(object: string, kvs: readonly ConvertedKv[], error: FieldError): ProcessorOutput {
  return { kvs, problems: [{ object, ...refused(error) }] };
}

type ResourceProcessorKind<S> = {
  readonly kind: Kind;
  readonly schema: Schema<S>;
  key(id: ProcessorId): Key;
  convert(resource: Resource<S>, id: ProcessorId): Converted<string>;
};

/** Calico's own resources, read from either datastore. */
export function createResourceProcessor<S>({ kind, schema, key, convert }: ResourceProcessorKind<S>): Processor {
  return createKeyedProcessor({ kind, key, convert: (value, id) => convert(readResource(kind, schema, value), id) });
}
