// What an audit found beyond the original's lines: each problem in a sentence, with the command that mends it, and what became of
// it. Findings of one kind stand together, and a long row is cut: with ten thousand leaked addresses nobody reads them one by one.
import { messageOf, unreachable } from "../../../../base/lib/index.ts";
import { type Finding, findingCodes, type Mended, type MendResult } from "../../../../calico/ipam/index.ts";

const mostOfAKind = 20;

/** Nothing, where nothing was found. */
export function findingLines(findings: readonly Finding[]): string {
  if (findings.length === 0) return "";
  const lines = ["", "What to do about it:"];
  for (const [code, same] of Map.groupBy(findings, (finding) => finding.code)) {
    lines.push("", `${code}: ${findingCodes[code].means}`);
    for (const { says, command } of same.slice(0, mostOfAKind)) lines.push(`  ${says}`, `    ${command}`);
    if (same.length > mostOfAKind) lines.push(`  and ${same.length - mostOfAKind} more`);
  }
  return `${lines.join("\n")}\n`;
}

export function mendedLines(results: readonly MendResult[]): string {
  return results.map(({ finding, outcome }) => `${wordFor(outcome)}: ${finding.says}${why(outcome)}\n`).join("");
}

function wordFor({ is }: Mended): string {
  return { mended: "Mended", changed: "Left alone", left: "Left", failed: "Failed" }[is];
}

function why(outcome: Mended): string {
  switch (outcome.is) {
    case "mended":
      return "";
    case "changed":
      return ` (it has changed since: ${outcome.says})`;
    case "left":
      return ` (${outcome.says})`;
    case "failed":
      return ` (${causeOf(outcome.error)})`;
    default:
      return unreachable(outcome);
  }
}

/** A step that failed names the step; what the datastore said is behind it. */
function causeOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
}

export function summaryLine(results: readonly MendResult[], unmended: number): string {
  const count = (is: Mended["is"]) => results.filter(({ outcome }) => outcome.is === is).length;
  const parts = [
    `mended ${count("mended")}`,
    ...(count("changed") === 0 ? [] : [`${count("changed")} have changed meanwhile`]),
    ...(count("left") + unmended === 0 ? [] : [`${count("left") + unmended} need a person`]),
    ...(count("failed") === 0 ? [] : [`${count("failed")} failed`]),
  ];
  return `Fix complete; ${parts.join(", ")}.\n`;
}
