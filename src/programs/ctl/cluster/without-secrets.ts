// Objects as they may be handed to others: without what looks like a credential, and without what only the API server needs. Secrets
// themselves are never asked for. Pure.
import { isRecord, type JsonRecord } from "../../../base/lib/index.ts";

export const redacted = "<redacted>";

/** Names of variables, settings and files that hold a credential. */
const secretName =
  /pass(?:word|wd|phrase)|secret|token|credential|private|api[-_]?key|\.key$|(?:^|[-_.])key(?:$|[-_.])|kubeconfig/i;
/** Private keys, tokens and passwords in an address, wherever they stand. */
const secretText = /-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[\w-]{10,}\.[\w-]{10,}\.|:\/\/[^/\s:@]+:[^/\s@]+@/;

const copiesOfTheObject = ["kubectl.kubernetes.io/last-applied-configuration"];

export function withoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return secretText.test(value) ? redacted : value;
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(isVariable(item) ? variable(item) : item));
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).flatMap(([name, field]): [string, unknown][] => {
    if (name === "managedFields" || copiesOfTheObject.includes(name)) return [];
    if (name === "data" || name === "binaryData" || name === "stringData") return [[name, data(field)]];
    return [[name, withoutSecrets(field)]];
  });
  return Object.fromEntries(fields);
}

/** Of a container: {name, value}. */
function isVariable(item: unknown): item is JsonRecord {
  return isRecord(item) && typeof item.name === "string" && typeof item.value === "string";
}

function variable(item: JsonRecord): JsonRecord {
  return secretName.test(String(item.name)) ? { ...item, value: redacted } : item;
}

/** Of a ConfigMap: a text under each name. */
function data(field: unknown): unknown {
  if (!isRecord(field)) return redacted;
  return Object.fromEntries(
    Object.entries(field).map(([name, text]) => [name, secretName.test(name) ? redacted : withoutSecrets(text)]),
  );
}
