// Calico's own resources of which each becomes one key/value, under a key that follows from its name.
import type { Key, Kind, Schema } from "../../model/index.ts";
import { type Resource, readResource } from "../object/resource.ts";
import type { Converted } from "./converted.ts";
import { createKeyedProcessor } from "./keyed-processor.ts";
import type { Processor, ProcessorId } from "./processor.ts";

type SimpleKind<S> = {
  readonly kind: Kind;
  readonly schema: Schema<S>;
  key(id: ProcessorId): Key;
  convert(resource: Resource<S>, id: ProcessorId): Converted<string>;
};

export function createSimpleProcessor<S>({ kind, schema, key, convert }: SimpleKind<S>): Processor {
  return createKeyedProcessor({ kind, key, convert: (value, id) => convert(readResource(kind, schema, value), id) });
}
