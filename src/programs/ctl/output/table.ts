// The tables of get: a heading line, a line for each object, an empty line. Cells are padded as the original's are, the last
// one too.
import type { CellContext, Column } from "../../../calico/kinds/index.ts";
import type { V3Object } from "../../../calico/resources/index.ts";

const leastWidth = 5;
const gap = 3;

export function table(columns: readonly Column[], objects: readonly V3Object[], context: CellContext): string {
  const headings = columns.map(({ heading }) => heading);
  const rows = [headings, ...objects.map((object) => columns.map(({ cell }) => cell(object, context)))];
  return `${padded(rows)}\n`;
}

/** Lines of cells; what is in a cell is printed as it is, even where it breaks the line. */
function padded(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, text] of row.entries()) {
      widths[at] = Math.max(widths[at] ?? leastWidth, characters(text) + gap);
    }
  }
  const lines = rows.map((row) =>
    row.map((text, at) => text + " ".repeat((widths[at] ?? 0) - characters(text))).join(""),
  );
  return lines.map((line) => `${line}\n`).join("");
}

function characters(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0xd800 && code < 0xdc00) count -= 1;
  }
  return count;
}
