// Objects that are sent whole, under the key of their resource: read against their schema, checked, written as Go writes
// them.
import type { JsonRecord } from "../../../base/lib/index.ts";
import type { Kind } from "../../kinds/index.ts";
import { type ObjectMeta, type ResourceKind, recordOf, type Schema, writeObjectMeta } from "../../model/index.ts";
import { metadataProblem } from "../object/metadata-rules.ts";
import { type Resource, writeResource } from "../object/resource.ts";
import { createKeyedProcessor, createResourceProcessor } from "./keyed-processor.ts";
import { absent, type Converted, type FieldProblem, invalid, type Processor, type ProcessorId } from "./processor.ts";

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

export type PassThroughKind<S> = {
  readonly kind: Kind & ResourceKind;
  readonly schema: Schema<S>;
  problem(resource: Resource<S>): FieldProblem | undefined;
  /** One that breaks a rule, but can be read, is passed on: its reader takes what makes sense, and says what does not. */
  readonly passesFaulty?: boolean;
  /** The status as JSON, for the kinds that have one. Throws FieldError. */
  status?(status: unknown): string;
};

/** Kinds that clients get whole, as the v3 resource: typed, so that unknown fields are gone, checked, and written as Go would. */
export function createPassThroughProcessor<S>(passed: PassThroughKind<S>): Processor {
  const { kind, schema } = passed;
  return createResourceProcessor({
    kind,
    schema,
    key: ({ namespace, name }) => ({ is: "Resource", kind, namespace, name }),
    convert: (resource) => convertWhole(passed, resource),
  });
}

/** The resource's JSON, or what the validation filter says. */
export function convertWhole<S>(passed: PassThroughKind<S>, resource: Resource<S>): Converted<string> {
  // First, because a status that cannot be read is worse than any rule that is broken.
  const status = passed.status?.(resource.status);
  const problem = metadataProblem(resource.metadata) ?? passed.problem(resource);
  if (problem !== undefined && passed.passesFaulty !== true) return invalid(problem);
  const spec = passed.schema.go.write(resource.spec);
  const parts = status === undefined ? { spec } : { spec, status };
  return {
    is: "value",
    value: writeResource(passed.kind, resource.metadata, parts),
    v3ResourceVersion: resource.metadata.resourceVersion ?? "",
  };
}
