// Kinds that clients get whole, as the v3 resource: typed, so that unknown fields are gone, checked, and written as Go would.
import type { Kind, ResourceKind, Schema } from "../../model/index.ts";
import { metadataProblem } from "../object/metadata-rules.ts";
import { type Resource, writeResource } from "../object/resource.ts";
import { type Converted, type FieldProblem, invalid } from "./converted.ts";
import type { Processor } from "./processor.ts";
import { createSimpleProcessor } from "./simple-processor.ts";

export type PassThroughKind<S> = {
  readonly kind: Kind & ResourceKind;
  readonly schema: Schema<S>;
  problem(resource: Resource<S>): FieldProblem | undefined;
  /** The status as JSON, for the kinds that have one. Throws FieldError. */
  status?(status: unknown): string;
};

export function createPassThroughProcessor<S>(passed: PassThroughKind<S>): Processor {
  const { kind, schema } = passed;
  return createSimpleProcessor({
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
  if (problem !== undefined) return invalid(problem);
  const spec = passed.schema.go.write(resource.spec);
  const parts = status === undefined ? { spec } : { spec, status };
  return {
    is: "value",
    value: writeResource(passed.kind, resource.metadata, parts),
    v3ResourceVersion: resource.metadata.resourceVersion ?? "",
  };
}
