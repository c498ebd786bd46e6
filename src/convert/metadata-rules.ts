// What the validation filter demands of the metadata of every API object that is sent whole.
import type { ObjectMeta } from "../model/index.ts";
import type { Warning } from "./converted.ts";
import { isDnsSubdomain, isLabelValue, isQualifiedName } from "./name-rules.ts";

const maxAnnotationBytes = 262_144;

/** Undefined: nothing is wrong. */
export function metadataProblem({ name = "", labels = {}, annotations = {} }: ObjectMeta): Warning | undefined {
  const bad = (field: string, rule: string): Warning => ({ field, rule, effect: "deleted" });
  if (!isDnsSubdomain(name)) return bad("metadata.name", "must be a DNS name of up to 253 characters");
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    const field = `metadata.annotations[${JSON.stringify(key)}]`;
    if (!isQualifiedName(key.toLowerCase())) return bad(field, "must have a qualified name for its key");
    bytes += utf8Length(key) + utf8Length(value);
  }
  if (bytes > maxAnnotationBytes) {
    return bad("metadata.annotations", `must be no more than ${maxAnnotationBytes} bytes in all`);
  }
  for (const [key, value] of Object.entries(labels)) {
    const field = `metadata.labels[${JSON.stringify(key)}]`;
    if (!isQualifiedName(key)) return bad(field, "must have a qualified name for its key");
    if (!isLabelValue(value)) return bad(field, "must be a label value of up to 63 characters");
  }
  return undefined;
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
