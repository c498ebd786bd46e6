// What is demanded of every object's metadata: Kubernetes' rules, in the words in which it says them.
import type { ObjectMeta, StringMap } from "../../model/index.ts";
import { goMap, type Problem } from "./check.ts";
import { hasLabelValueForm, isDnsName, qualifiedNameParts, utf8Length } from "./name-rules.ts";

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomainReason = `name must consist of lower case alphanumeric characters, '-' or '.' (regex: ${label}(\\.${label})*)`;
const labelReason = `name must consist of lower case alphanumeric characters or '-' (regex: ${label})`;
const partForm =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const valueReason =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const prefixReason =
  "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const maxNameBytes = 253;
const maxAnnotationBytes = 262_144;

/** Of every kind. */
export function* metadataProblems(metadata: ObjectMeta): Generator<Problem> {
  yield* nameProblems(metadata);
  yield* annotationProblems(metadata.annotations ?? {}, "metadata.annotations");
  yield* labelProblems(metadata.labels ?? {});
}

function* nameProblems({ name = "" }: ObjectMeta): Generator<Problem> {
  yield* lengthProblem(name, maxNameBytes);
  if (isDnsName(name)) return;
  const rule = "must be a DNS name of up to 253 characters";
  yield { field: "metadata.name", rule, name: "Metadata.Name", value: name, reason: subdomainReason };
}

function* lengthProblem(name: string, most: number): Generator<Problem> {
  const over = utf8Length(name) - most;
  if (over <= 0) return;
  const rule = `must have up to ${most} characters`;
  const reason = `name is too long by ${over} bytes`;
  yield { field: "metadata.name", rule, name: "Metadata.Name", value: name, reason };
}

type StrictName = { readonly isName?: (name: string) => boolean; readonly maxBytes?: number };

/** Of policies and tiers, which look at all of it a second time, and most of them at the name more strictly. */
export function* strictMetadataProblems(
  metadata: ObjectMeta,
  { isName = () => true, maxBytes = maxNameBytes }: StrictName,
): Generator<Problem> {
  const { name = "", annotations = {}, labels = {} } = metadata;
  yield* lengthProblem(name, maxBytes);
  if (!isName(name)) {
    const rule = "must be a DNS label";
    yield { field: "metadata.name", rule, name: "Metadata.Name", value: name, reason: labelReason };
  }
  yield* annotationProblems(annotations, "metadata.annotations");
  yield* labelProblems(labels);
}

const oneLabel = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
export const isDnsLabel = (name: string) => oneLabel.test(name);
/** The tier of a policy is also a label of its object. */
export const maxLabelBytes = 63;

/** A label, or two with a dot between: a policy may carry its tier in its name. */
export function isPolicyName(name: string): boolean {
  const parts = name.split(".");
  return parts.length <= 2 && parts.every((part) => oneLabel.test(part));
}

/** Of any object that has annotations; `field` is that of all of them. */
export function* annotationProblems(annotations: StringMap, field: string): Generator<Problem> {
  for (const key of Object.keys(annotations)) {
    for (const reason of keyReasons(key.toLowerCase())) {
      const rule = "must have a qualified name for its key, with up to 63 characters behind the slash";
      yield { field: `${field}[${JSON.stringify(key)}]`, rule, name: "Metadata.Annotations (key)", value: key, reason };
    }
  }
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) bytes += utf8Length(key) + utf8Length(value);
  if (bytes <= maxAnnotationBytes) return;
  yield {
    field,
    rule: `must be no more than ${maxAnnotationBytes} bytes in all`,
    name: "Metadata.Annotations (key)",
    value: goMap(annotations),
    reason: `total size of annotations is too large by ${bytes - maxAnnotationBytes} bytes`,
  };
}

function* labelProblems(labels: StringMap): Generator<Problem> {
  for (const [key, value] of Object.entries(labels)) {
    const field = `metadata.labels[${JSON.stringify(key)}]`;
    for (const reason of keyReasons(key)) {
      const rule = "must have a qualified name for its key, with up to 63 characters behind the slash";
      yield { field, rule, name: "Metadata.Labels (label)", value: key, reason };
    }
    for (const reason of valueReasons(value)) {
      const rule = "must be a label value of up to 63 characters";
      yield { field, rule, name: "Metadata.Labels (value)", value, reason };
    }
  }
}

function* keyReasons(key: string): Generator<string> {
  if (key.split("/").length > 2) {
    const form = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    return yield `a valid label key ${partForm} ${form}`;
  }
  const { prefix, part, isPart } = qualifiedNameParts(key);
  if (prefix === "") yield "prefix part must be non-empty";
  else if (prefix !== undefined) {
    if (prefix.length > maxNameBytes) yield `prefix part must be no more than ${maxNameBytes} bytes`;
    if (!isDnsName(prefix)) yield prefixReason;
  }
  if (part === "") yield "name part must be non-empty";
  else if (utf8Length(part) > maxLabelBytes) yield `name part must be no more than ${maxLabelBytes} bytes`;
  if (!isPart) yield `name part ${partForm}`;
}

function* valueReasons(value: string): Generator<string> {
  if (utf8Length(value) > maxLabelBytes) yield `must be no more than ${maxLabelBytes} bytes`;
  if (!hasLabelValueForm(value)) yield valueReason;
}
