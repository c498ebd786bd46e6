// How get -w writes changes: rows of a table whose first column says what happened, documents of YAML, or a line of JSON for
// each. Columns keep the width that they have: what is on the screen cannot be moved.

import { writeJson } from "../../../../base/lib/index.ts";
import { type CellContext, type Column, columnsOf, type Kind, kindInfo } from "../../../../calico/kinds/index.ts";
import { CtlError } from "../../console.ts";
import type { OutputFormat } from "../../output/output-format.ts";
import { writeYaml } from "../../yaml/write-yaml.ts";
import type { Change } from "./changes.ts";

export type ChangeWriter = (changes: readonly Change[], context: CellContext) => string;

/** Throws CtlError for a format that has no form for changes, or a heading that is none. */
export function changeWriter(kind: Kind, format: OutputFormat, showsNamespace: boolean): ChangeWriter {
  switch (format.is) {
    case "yaml":
      return (changes) => changes.map(({ type, object }) => `---\n${writeYaml({ type, object })}`).join("");
    case "json":
      return (changes) => changes.map(({ type, object }) => `${writeJson({ type, object })}\n`).join("");
    case "name":
      return (changes) =>
        changes.map(({ type, object }) => `${type} ${kind.toLowerCase()}/${nameIn(object)}\n`).join("");
    case "table":
      return rowWriter([...namespaceOf(kind, showsNamespace), ...columnsOf(kind, format.form)]);
    case "custom-columns":
      return rowWriter(format.headings.map((heading) => columnOf(kind, heading)));
    default:
      throw new CtlError(
        `-o ${format.is} cannot be used with --watch: use ps, wide, custom-columns, yaml, json or name`,
      );
  }
}

function nameIn({ metadata: { namespace = "", name = "" } }: Change["object"]): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

function namespaceOf(kind: Kind, isShown: boolean): readonly Column[] {
  if (!isShown || !kindInfo(kind).namespaced) return [];
  return columnsOf(kind, "all").filter(({ heading }) => heading === "NAMESPACE");
}

function columnOf(kind: Kind, wanted: string): Column {
  const known = columnsOf(kind, "all");
  const column = known.find(({ heading }) => heading === wanted);
  if (column !== undefined) return column;
  const valid = known.map(({ heading }) => heading).join(", ");
  throw new CtlError(`unknown heading ${wanted}, valid values are: ${valid}`);
}

const gap = 3;

function rowWriter(columns: readonly Column[]): ChangeWriter {
  const widths: number[] = [];
  let isFirst = true;
  return (changes, context) => {
    const rows = changes.map(({ type, object }) => [type, ...columns.map(({ cell }) => cell(object, context))]);
    const all = isFirst ? [["EVENT", ...columns.map(({ heading }) => heading)], ...rows] : rows;
    isFirst = false;
    for (const row of all) {
      for (const [at, text] of row.entries())
        widths[at] = Math.max(widths[at] ?? 0, text.length + gap, at === 0 ? 11 : 0);
    }
    return all
      .map(
        (row) =>
          `${row
            .map((text, at) => text.padEnd(widths[at] ?? 0))
            .join("")
            .trimEnd()}\n`,
      )
      .join("");
  };
}
