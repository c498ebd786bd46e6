// Kinds whose objects each become one key/value under a key that follows from the object's name. No state.
import { FieldError, type Key, type Kind, keyToPath, type Schema } from "../model/index.ts";
import { attempt } from "./attempt.ts";
import { type Converted, type ConvertedKv, deletion, type Problem } from "./converted.ts";
import { objectName, type Processor, type ProcessorId, type ProcessorOutput } from "./processor.ts";
import { type Resource, readResource } from "./resource.ts";

export type SimpleKind<S> = {
  readonly kind: Kind;
  readonly schema: Schema<S>;
  key(id: ProcessorId): Key;
  convert(resource: Resource<S>, id: ProcessorId): Converted<string>;
  /** Values that are API objects carry their resource version beside them. */
  readonly isResource?: boolean;
};

export function createSimpleProcessor<S>(simple: SimpleKind<S>): Processor {
  return {
    set: (id, revision, value) => {
      const path = keyToPath(simple.key(id));
      if (path === undefined) return keyless(objectName(simple.kind, id));
      const read = attempt(() => {
        const resource = readResource(simple.kind, simple.schema, value);
        return { resource, converted: simple.convert(resource, id) };
      });
      if (read instanceof FieldError) return unreadable(objectName(simple.kind, id), [deletion(path)], read);
      const v3ResourceVersion = simple.isResource ? (read.resource.metadata.resourceVersion ?? "") : "";
      return toOutput(read.converted, { object: objectName(simple.kind, id), path, revision, v3ResourceVersion });
    },
    delete: (id) => {
      const path = keyToPath(simple.key(id));
      return { kvs: path === undefined ? [] : [deletion(path)], problems: [] };
    },
  };
}

/** What is sent and said for a converted value under one path. */
export function toOutput(
  converted: Converted<string>,
  where: { object: string; path: string; revision: string; v3ResourceVersion: string },
): ProcessorOutput {
  const { object, path, revision, v3ResourceVersion } = where;
  switch (converted.is) {
    case "value": {
      const problems = (converted.warnings ?? []).map((warning): Problem => ({ object, ...warning }));
      return { kvs: [{ path, value: converted.value, revision, v3ResourceVersion }], problems };
    }
    case "absent":
      return { kvs: [deletion(path)], problems: [] };
    case "invalid": {
      const { field = "", why: rule } = converted;
      const kv: ConvertedKv = { path, value: undefined, revision, v3ResourceVersion: "", isInvalid: true };
      return { kvs: [kv], problems: [{ object, field, rule, effect: "deleted" }] };
    }
  }
}

export function keyless(object: string): ProcessorOutput {
  return { kvs: [], problems: [{ object, field: "metadata", rule: "must have a name", effect: "dropped" }] };
}

/** An object that cannot be decoded: whatever was sent of it goes, and nobody else waits. */
export function unreadable(object: string, kvs: readonly ConvertedKv[], error: FieldError): ProcessorOutput {
  return { kvs, problems: [{ object, field: error.field, rule: error.rule, effect: "deleted" }] };
}
