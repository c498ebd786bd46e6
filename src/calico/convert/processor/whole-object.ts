// Objects that are sent whole, under the key of their resource: read against their schema, checked, written as Go writes
// them.
import { type JsonRecord, type ObjectMeta, type ResourceKind, recordOf, writeObjectMeta } from "../../model/index.ts";
import { metadataProblem } from "../object/metadata-rules.ts";
import { absent, invalid } from "./converted.ts";
import { createKeyedProcessor } from "./keyed-processor.ts";
import type { Processor, ProcessorId } from "./processor.ts";

export type WholeObject = {
  readonly metadata: ObjectMeta;
  /** The JSON of the object, as it is sent. */
  readonly value: string;
};

type WholeObjectKind = {
  /** How users call it. */
  readonly kind: string;
  /** How its key calls it. */
  readonly resourceKind: ResourceKind;
  /** Undefined: the object has nothing to say, for now. Throws FieldError for what cannot be read. */
  read(object: JsonRecord, id: ProcessorId): WholeObject | undefined;
};

export function createWholeObjectProcessor({ kind, resourceKind, read }: WholeObjectKind): Processor {
  return createKeyedProcessor({
    kind,
    key: ({ namespace, name }) => ({ is: "Resource", kind: resourceKind, namespace, name }),
    convert: (value, id) => {
      const found = read(recordOf(value, ""), id);
      if (found === undefined) return absent("it has nothing to say for now");
      const problem = metadataProblem(found.metadata);
      if (problem !== undefined) return invalid(problem);
      return { is: "value", value: found.value, v3ResourceVersion: found.metadata.resourceVersion ?? "" };
    },
  });
}

/** Members in the order given; Kubernetes' own objects carry neither kind nor apiVersion. */
export function writeObject(metadata: ObjectMeta, members: { readonly [name: string]: string }): string {
  let text = `{"metadata":${writeObjectMeta(metadata)}`;
  for (const [name, value] of Object.entries(members)) text += `,"${name}":${value}`;
  return `${text}}`;
}
