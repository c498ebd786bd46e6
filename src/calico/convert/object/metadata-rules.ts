// What the validation filter demands of the metadata of every API object that is sent whole.
import { annotationsProblem, isDnsSubdomain, labelsProblem, utf8Length } from "../../kinds/index.ts";
import type { ObjectMeta } from "../../model/index.ts";
import type { FieldProblem } from "../processor/processor.ts";

const maxAnnotationBytes = 262_144;

/** Undefined: nothing is wrong. */
export function metadataProblem({ name = "", labels = {}, annotations = {} }: ObjectMeta): FieldProblem | undefined {
  if (!isDnsSubdomain(name)) return { field: "metadata.name", rule: "must be a DNS name of up to 253 characters" };
  const problem = annotationsProblem(annotations, "metadata.annotations");
  if (problem !== undefined) return problem;
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) bytes += utf8Length(key) + utf8Length(value);
  if (bytes > maxAnnotationBytes) {
    return { field: "metadata.annotations", rule: `must be no more than ${maxAnnotationBytes} bytes in all` };
  }
  return labelsProblem(Object.entries(labels), "metadata.labels");
}
