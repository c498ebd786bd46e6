// What is demanded of every object's metadata: Kubernetes' rules, in the words in which it says them.
import type { ObjectMeta, StringMap } from "../../model/index.ts";
import type { Problem } from "./check.ts";
import { isDnsName, isLabelValue, qualifiedNameParts, utf8Length } from "./name-rules.ts";

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomainReason = `name must consist of lower case alphanumeric characters, '-' or '.' (regex: ${label}(\\.${label})*)`;
const labelReason = `name must consist of lower case alphanumeric characters or '-' (regex: ${label})`;
const partReason =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const valueReason =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const prefixReason =
  "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const maxNameBytes = 253;
const maxAnnotationBytes = 262_144;

/** Of every kind. */
export function* metadataProblems(metadata: ObjectMeta): Generator<Problem> {
  yield* nameProblems(metadata);
  yield* annotationKeyProblems(metadata.annotations ?? {}, "metadata.annotations");
  yield* annotationSizeProblems(metadata.annotations ?? {});
  yield* labelProblems(metadata.labels ?? {});
}

function* nameProblems({ name = "" }: ObjectMeta): Generator<Problem> {
  const rule = "must be a DNS name of up to 253 characters";
  const said = { field: "metadata.name", rule, name: "Metadata.Name", value: name };
  const over = utf8Length(name) - maxNameBytes;
  if (over > 0) yield { ...said, reason: `name is too long by ${over} bytes` };
  if (!isDnsName(name)) yield { ...said, reason: subdomainReason };
}

/** Of policies and tiers, which look at all of it a second time, and at the name more strictly. */
export function* strictMetadataProblems(metadata: ObjectMeta, isName: (name: string) => boolean): Generator<Problem> {
  const { name = "", annotations = {}, labels = {} } = metadata;
  if (!isName(name)) {
    const rule = "must be a DNS label";
    yield { field: "metadata.name", rule, name: "Metadata.Name", value: name, reason: labelReason };
  }
  yield* annotationKeyProblems(annotations, "metadata.annotations");
  yield* annotationSizeProblems(annotations);
  yield* labelProblems(labels);
}

const oneLabel = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
export const isDnsLabel = (name: string) => name.length <= 63 && oneLabel.test(name);

/** A label, or two with a dot between: a policy may carry its tier in its name. */
export function isPolicyName(name: string): boolean {
  const parts = name.split(".");
  return parts.length <= 2 && parts.every((part) => oneLabel.test(part));
}

export function* annotationKeyProblems(annotations: StringMap, field: string): Generator<Problem> {
  for (const key of Object.keys(annotations)) {
    for (const reason of keyReasons(key.toLowerCase())) {
      const rule = "must have a qualified name for its key, with up to 63 characters behind the slash";
      yield { field: `${field}[${JSON.stringify(key)}]`, rule, name: "Metadata.Annotations (key)", value: key, reason };
    }
  }
}

function* annotationSizeProblems(annotations: StringMap): Generator<Problem> {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) bytes += utf8Length(key) + utf8Length(value);
  if (bytes <= maxAnnotationBytes) return;
  yield {
    field: "metadata.annotations",
    rule: `must be no more than ${maxAnnotationBytes} bytes in all`,
    name: "Metadata.Annotations",
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
    if (isLabelValue(value)) continue;
    const reason = value.length > 63 ? "must be no more than 63 characters" : valueReason;
    yield {
      field,
      rule: "must be a label value of up to 63 characters",
      name: "Metadata.Labels (value)",
      value,
      reason,
    };
  }
}

function* keyReasons(key: string): Generator<string> {
  const { prefix, part, isPart } = qualifiedNameParts(key);
  if (prefix !== undefined && prefix === "") yield "prefix part must be non-empty";
  else if (prefix !== undefined && !isDnsName(prefix)) yield prefixReason;
  if (part === "") yield "name part must be non-empty";
  else if (part.length > 63) yield "name part must be no more than 63 characters";
  if (!isPart) yield partReason;
}
