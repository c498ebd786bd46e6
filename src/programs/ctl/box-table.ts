// Tables in boxes, as `ipam show` and `node status` print them:
//
//   +----------+-----------+
//   | GROUPING | IPS TOTAL |     headings on the left
//   +----------+-----------+
//   | IP Pool  |     65536 |     cells as their column says
//   +----------+-----------+

export type BoxColumn = { readonly heading: string; readonly align?: "left" | "right" };

/** With a new line at the end. A row that is too short has empty cells. */
export function boxTable(columns: readonly BoxColumn[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map(({ heading }, at) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(row[at] ?? "")), widthOf(heading)),
  );
  const rule = `+${widths.map((width) => "-".repeat(width + 2)).join("+")}+\n`;
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  const headings = line(columns.map(({ heading }, at) => padded(heading, widths[at] ?? 0, "left")));
  const body = rows.map((row) =>
    line(columns.map(({ align = "left" }, at) => padded(row[at] ?? "", widths[at] ?? 0, align))),
  );
  return rule + headings + rule + body.join("") + rule;
}

function padded(text: string, width: number, align: "left" | "right"): string {
  const missing = " ".repeat(Math.max(0, width - widthOf(text)));
  return align === "left" ? text + missing : missing + text;
}

/** In characters, not in UTF-16 units. */
function widthOf(text: string): number {
  return [...text].length;
}
