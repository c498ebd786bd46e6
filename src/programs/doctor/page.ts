// docs/reference/doctor.md, made from the catalogue; a test keeps it fresh.
import { catalogue, type Entry, findingCodes } from "./catalogue.ts";

export function doctorPage(): string {
  const rows = findingCodes.map((code) => {
    const { level, title, why, fix }: Entry = catalogue[code];
    return `| \`${code}\` | ${level} | ${cell(title)} | ${cell(why)} | ${cell(fix)} |`;
  });
  return `# What \`cattail doctor\` finds

\`cattail doctor\` looks at everything a server needs before it starts: settings, TLS files, ports, datastore, rights.
\`cattail doctor --server HOST:PORT\` looks at a running server, ours or the original, as a node would; with several
\`--server\` it also compares them. It changes nothing.

The exit code is 0 when all is well (notes included), 1 with warnings, 2 when something is broken. \`-o json\` prints the
findings as data; their codes do not change.

| code | level | what | why it matters | what mends it |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
