// docs/reference/doctor.md, made from the catalogue; a test keeps it fresh.
import { catalogue, type Entry, findingCodes } from "./catalogue.ts";

export function doctorPage(): string {
  const rows = findingCodes.map((code) => {
    const { level, title, why, fix }: Entry = catalogue[code];
    return `| \`${code}\` | ${level} | ${cell(title)} | ${cell(why)} | ${cell(fix)} |`;
  });
  return `# What \`cattail doctor\` finds

| command | what it checks |
|---|---|
| \`cattail doctor\` | what a server needs before it starts: settings, TLS files, ports, datastore, permissions |
| \`cattail doctor --server HOST:PORT\` | a running server (Cattail or calico/typha), from the side of a node; with several \`--server\` it also compares them |

The doctor changes nothing. The exit code is 0 when all is well (notes are allowed), 1 with warnings, 2 when something is broken. \`-o json\` prints the findings as JSON. The codes do not change between versions.

| code | level | what is wrong | why it matters | how to fix it |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
