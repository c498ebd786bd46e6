// JSON as Go's json.MarshalIndent writes it, from the compact text that the schemas write: their order of fields and their
// escapes stay, only white space is added.
import { v3Version, writeV3 } from "../../../calico/resources/index.ts";
import type { Result } from "./result.ts";

/** One result as it is, several as an array, none as null; without a new line at the end. An object is a chunk. */
export function writeJsonTo(results: readonly Result[], take: (chunk: string) => void): void {
  const [first] = results;
  if (first === undefined) take("null");
  else if (results.length === 1) writeResult(first, "\n", take);
  else {
    for (const [index, result] of results.entries()) {
      take(index === 0 ? "[\n  " : ",\n  ");
      writeResult(result, "\n  ", take);
    }
    take("\n]");
  }
}

/** `newLine` has the indentation of what the result stands in. */
function writeResult(result: Result, newLine: string, take: (chunk: string) => void): void {
  if (result.is === "object") {
    take(indentJson(writeV3(result.object.kind, result.object), newLine));
    return;
  }
  const { kind, items, resourceVersion } = result;
  const metadata = resourceVersion === "" ? "{}" : `{"resourceVersion":${JSON.stringify(resourceVersion)}}`;
  const head = `{"kind":"${kind}List","apiVersion":"${v3Version}","metadata":${metadata},"items":[]}`;
  const [start, end] = indentJson(head, newLine).split(/(?<=\[)(?=\])/);
  take(start ?? "");
  const inner = `${newLine}    `;
  for (const [index, object] of items.entries()) {
    take((index === 0 ? inner : `,${inner}`) + indentJson(writeV3(object.kind, object), inner));
  }
  take((items.length === 0 ? "" : `${newLine}  `) + end);
}

/** Up to the next sign of structure: a text with its quotation marks, or a number or word. */
const run = /"(?:[^"\\]|\\.)*"|[^{}[\],:"]+/y;

/** Of JSON without white space between its parts. */
export function indentJson(compact: string, outer = "\n"): string {
  const parts: string[] = [];
  let newLine = outer;
  for (let at = 0; at < compact.length; ) {
    const sign = compact.charAt(at);
    at += 1;
    if (sign === "{" || sign === "[") {
      const isEmpty = compact[at] === (sign === "{" ? "}" : "]");
      if (isEmpty) at += 1;
      else newLine += "  ";
      parts.push(isEmpty ? (sign === "{" ? "{}" : "[]") : sign + newLine);
    } else if (sign === "}" || sign === "]") {
      newLine = newLine.slice(0, -2);
      parts.push(newLine, sign);
    } else if (sign === ",") parts.push(",", newLine);
    else if (sign === ":") parts.push(": ");
    else {
      run.lastIndex = at - 1;
      const [text = sign] = run.exec(compact) ?? [];
      parts.push(text);
      at += text.length - 1;
    }
  }
  return parts.join("");
}
