// What the validation filter demands of the metadata of every API object that is sent whole.
import type { ObjectMeta } from "../../model/index.ts";
import type { FieldProblem } from "../processor/processor.ts";
import { annotationsProblem, isDnsSubdomain, labelsProblem } from "./name-rules.ts";

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

function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff)) bytes += 2;
    else if (unit >= 0x80) bytes += 1; // half of a surrogate pair is two of its four bytes
  }
  return bytes;
}
