// Asks the kernel about a part of the table: everything is made in a table that nothing leads to, which the same transaction removes
// again. Taken or refused, the kernel is as it was; refused, it has said what it does not take.
import { stamped } from "./kernel-table.ts";
import { tableName } from "./names.ts";

export type Tried = {
  readonly sets: readonly { readonly name: string; readonly text: string }[];
  readonly chains: readonly (readonly string[])[];
};

const table = `inet ${tableName}-trial`;

export function trialText(units: readonly Tried[]): string {
  const sets = new Map(units.flatMap((unit) => unit.sets.map(({ name, text }) => [name, text] as const)));
  const chains = units.flatMap((unit) => unit.chains);
  return [
    `add table ${table}`,
    `delete table ${table}`,
    `table ${table} {`,
    ...[...sets].map(([name, text]) => `  set ${name} { ${text} }`),
    ...chains.flatMap((rules, index) => [
      `  chain tried-${index} {`,
      ...rules.map((rule) => `    ${stamped(rule)}`),
      "  }",
    ]),
    "}",
    `delete table ${table}`,
    "",
  ].join("\n");
}
