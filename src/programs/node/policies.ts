// `cattail node policies`: what each rule on this node has let pass and denied, as the kernel has counted it.
import { Command, Option } from "commander";
import { policyCounters, type RuleCount } from "../../node/dataplane/index.ts";
import { fail } from "../shared/fail.ts";

type Options = { readonly output?: "json" | "prometheus"; readonly all?: true };

export function policiesCommand(): Command {
  return new Command("policies")
    .addOption(
      new Option("-o, --output <format>", "for machines; prometheus is text for a textfile collector").choices([
        "json",
        "prometheus",
      ]),
    )
    .option("-a, --all", "also rules that no packet has met")
    .addHelpText(
      "after",
      `
Counts begin anew when a rule is changed. Run as root, on the node.

Examples:
  cattail node policies
  cattail node policies --all -o json`,
    )
    .action((options: Options) => void show(options).catch(fail));
}

async function show({ output, all }: Options): Promise<void> {
  const counts = await policyCounters();
  if (counts === undefined) {
    process.stderr.write("No policy is in force here: there is no table inet cattail. Does the agent run?\n");
    process.exitCode = 1;
    return;
  }
  const shown = all === true ? counts : counts.filter(({ packets }) => packets > 0);
  if (output === "json") process.stdout.write(`${JSON.stringify(shown, undefined, 2)}\n`);
  else if (output === "prometheus") process.stdout.write(prometheusText(counts));
  else process.stdout.write(tableText(shown));
}

function nameOf({ policy, reason }: RuleCount): string {
  return policy === "" ? (reason ?? "") : policy;
}

export function tableText(counts: readonly RuleCount[]): string {
  const rows = [
    ["POLICY", "RULE", "DIRECTION", "ACTION", "PACKETS", "BYTES"],
    ...counts
      .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : (a.rule ?? 0) - (b.rule ?? 0)))
      .map((one) => [
        nameOf(one),
        one.rule === undefined ? "-" : String(one.rule),
        one.direction ?? "-",
        one.action,
        String(one.packets),
        String(one.bytes),
      ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

export function prometheusText(counts: readonly RuleCount[]): string {
  const lines = [
    "# HELP cattail_policy_packets Packets that a rule has decided over.",
    "# TYPE cattail_policy_packets counter",
  ];
  for (const one of counts) {
    const labels = [
      ["policy", nameOf(one)],
      ["rule", String(one.rule ?? "")],
      ["direction", one.direction ?? ""],
      ["action", one.action],
    ].map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    lines.push(`cattail_policy_packets{${labels.join(",")}} ${one.packets}`);
  }
  return `${lines.join("\n")}\n`;
}
