// Objects that are sent whole, under the key of their resource: read against their schema, checked, written as Go writes
// them. No state: the key follows from the object's name.
import {
  cleanJson,
  FieldError,
  type JsonRecord,
  keyToPath,
  member,
  type ObjectMeta,
  objectMeta,
  type ResourceKind,
  readSchema,
  recordOf,
  writeObjectMeta,
} from "../model/index.ts";
import { attempt } from "./attempt.ts";
import { deletion, type Warning } from "./converted.ts";
import { metadataProblem } from "./metadata-rules.ts";
import { nothing, objectName, type Processor, type ProcessorId } from "./processor.ts";

export type WholeObject = {
  readonly metadata: ObjectMeta;
  /** The JSON of the object, as it is sent. */
  readonly value: string;
};

export type WholeObjectKind = {
  /** How users call it. */
  readonly kind: string;
  /** How its key calls it. */
  readonly resourceKind: ResourceKind;
  /** Undefined: the object has nothing to say, for now. Throws FieldError for what cannot be read. */
  read(object: JsonRecord, id: ProcessorId): WholeObject | undefined;
};

export function createWholeObjectProcessor({ kind, resourceKind, read }: WholeObjectKind): Processor {
  const pathOf = ({ namespace, name }: ProcessorId) =>
    keyToPath({ is: "Resource", kind: resourceKind, namespace, name });
  const remove = (id: ProcessorId) => {
    const path = pathOf(id);
    return path === undefined ? [] : [deletion(path)];
  };
  return {
    set: (id, revision, value) => {
      const path = pathOf(id);
      if (path === undefined) return nothing;
      const object = objectName(kind, id);
      const found = attempt(() => read(recordOf(value, ""), id));
      if (found instanceof FieldError) {
        const { field, rule } = found;
        return { kvs: remove(id), problems: [{ object, field, rule, effect: "deleted" }] };
      }
      if (found === undefined) return { kvs: remove(id), problems: [] };
      const problem: Warning | undefined = metadataProblem(found.metadata);
      if (problem !== undefined) {
        const kv = { path, value: undefined, revision, v3ResourceVersion: "", isInvalid: true };
        return { kvs: [kv], problems: [{ object, ...problem }] };
      }
      const v3ResourceVersion = found.metadata.resourceVersion ?? "";
      return { kvs: [{ path, value: found.value, revision, v3ResourceVersion }], problems: [] };
    },
    delete: (id) => ({ kvs: remove(id), problems: [] }),
  };
}

export function readMetadata(object: JsonRecord): ObjectMeta {
  return readSchema(objectMeta, cleanJson(member(object, "metadata") ?? {}, "metadata"), "metadata");
}

/** Members in the order given; Kubernetes' own objects carry neither kind nor apiVersion. */
export function writeObject(metadata: ObjectMeta, members: { readonly [name: string]: string }): string {
  let text = `{"metadata":${writeObjectMeta(metadata)}`;
  for (const [name, value] of Object.entries(members)) text += `,"${name}":${value}`;
  return `${text}}`;
}
