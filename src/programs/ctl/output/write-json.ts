// JSON as Go's json.MarshalIndent writes it, from the compact text that the schemas write: their order of fields and their
// escapes stay, only white space is added.
import { type V3Object, v3Version, writeV3 } from "../../../calico/resources/index.ts";
import type { Result } from "./result.ts";

/** One result as it is, several as an array, none as null; without a new line at the end. */
export function resultsJson(results: readonly Result[]): string {
  const [first] = results;
  if (first === undefined) return "null";
  const text = results.length === 1 ? compact(first) : `[${results.map(compact).join(",")}]`;
  return indentJson(text);
}

function compact(result: Result): string {
  if (result.is === "object") return objectJson(result.object);
  const { kind, items, resourceVersion } = result;
  const metadata = resourceVersion === "" ? "{}" : `{"resourceVersion":${JSON.stringify(resourceVersion)}}`;
  const list = items.map(objectJson).join(",");
  return `{"kind":"${kind}List","apiVersion":"${v3Version}","metadata":${metadata},"items":[${list}]}`;
}

function objectJson(object: V3Object): string {
  return writeV3(object.kind, object);
}

/** Texts with their quotation marks, empty brackets, and whatever else carries meaning. */
const tokens = /"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|[^\s{}[\],:"]+/g;

export function indentJson(compactText: string): string {
  const parts: string[] = [];
  let indent = "\n";
  for (const [token] of compactText.matchAll(tokens)) {
    switch (token) {
      case "{":
      case "[":
        indent += "  ";
        parts.push(token, indent);
        break;
      case "}":
      case "]":
        indent = indent.slice(0, -2);
        parts.push(indent, token);
        break;
      case ",":
        parts.push(",", indent);
        break;
      case ":":
        parts.push(": ");
        break;
      default:
        parts.push(token);
    }
  }
  return parts.join("");
}
