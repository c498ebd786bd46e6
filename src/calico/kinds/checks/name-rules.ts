// Kubernetes' rules for names, labels and annotations, which the validation filter applies to every API object.
import type { StringMap } from "../../model/index.ts";

type FieldProblem = { readonly field: string; readonly rule: string };

const label = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
const subdomain = new RegExp(`^${label}(?:\\.${label})*$`);
const namePart = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** Calico checks the form of names inside a spec, but not their length. */
export function isDnsName(text: string): boolean {
  return subdomain.test(text);
}

export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && isDnsName(text);
}

/** An optional DNS prefix and a slash, then up to 63 letters, digits and inner - _ or dots. */
function isQualifiedName(text: string): boolean {
  const slash = text.indexOf("/");
  const name = text.slice(slash + 1);
  if (slash >= 0 && !isDnsSubdomain(text.slice(0, slash))) return false;
  return name.length <= 63 && namePart.test(name);
}

/** A key as Kubernetes takes it apart; `isPart` says whether the part behind the slash is made as it must be. */
export function qualifiedNameParts(text: string): { prefix: string | undefined; part: string; isPart: boolean } {
  const slash = text.indexOf("/");
  const part = text.slice(slash + 1);
  return { prefix: slash < 0 ? undefined : text.slice(0, slash), part, isPart: namePart.test(part) };
}

function isLabelValue(text: string): boolean {
  return text.length <= 63 && hasLabelValueForm(text);
}

/** Of any length. */
export function hasLabelValueForm(text: string): boolean {
  return text === "" || namePart.test(text);
}

const keyRule = "must have a qualified name for its key, with up to 63 characters behind the slash";

/** `field` is that of all labels. Undefined: nothing is wrong. */
export function labelsProblem(labels: Iterable<readonly [string, string]>, field: string): FieldProblem | undefined {
  for (const [key, value] of labels) {
    const rule = isQualifiedName(key) ? "must be a label value of up to 63 characters" : keyRule;
    if (rule === keyRule || !isLabelValue(value)) return { field: `${field}[${JSON.stringify(key)}]`, rule };
  }
  return undefined;
}

/** The keys only. `field` is that of all annotations. */
export function annotationsProblem(annotations: StringMap, field: string): FieldProblem | undefined {
  const bad = Object.keys(annotations).find((key) => !isQualifiedName(key.toLowerCase()));
  return bad === undefined ? undefined : { field: `${field}[${JSON.stringify(bad)}]`, rule: keyRule };
}

export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff)) bytes += 2;
    else if (unit >= 0x80) bytes += 1; // half of a surrogate pair is two of its four bytes
  }
  return bytes;
}
