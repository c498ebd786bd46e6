// The findings for people and for programs.
import { plainText } from "../../base/lib/index.ts";
import { exitCodeOf, type Finding, isProblem, type Section } from "./finding.ts";
import type { Lag } from "./servers/compare-servers.ts";
import type { ServerView } from "./servers/server-view.ts";

const marks: { readonly [level in Finding["level"]]: { text: string; colour: number } } = {
  ok: { text: "ok", colour: 32 },
  note: { text: "note", colour: 36 },
  warning: { text: "WARNING", colour: 33 },
  broken: { text: "BROKEN", colour: 31 },
};

export function reportText(sections: readonly Section[], options: { readonly isColoured: boolean }): string {
  const colour = (text: string, code: number) => (options.isColoured ? `\u001b[${code}m${text}\u001b[0m` : text);
  const lines = sections.flatMap(({ name, findings }) => [
    colour(name, 1),
    ...findings.flatMap((finding) => {
      const { text, colour: code } = marks[finding.level];
      // What was seen is often told in a peer's words.
      const seen = plainText(finding.what).replaceAll("\n", `\n${margin}`);
      const head = `  ${colour(text.padEnd(7), code)}  ${seen}`;
      if (!isProblem(finding)) return [head];
      const evidence = (finding.evidence ?? []).map(plainText).join("\n");
      return [
        `${head} (${finding.code})`,
        ...(evidence === "" ? [] : labelled("saw", evidence)),
        ...labelled("why", finding.why),
        ...labelled("fix", finding.fix),
      ];
    }),
  ]);
  return [...lines, "", summary(sections)].join("\n");
}

/** Below what a finding says, past its mark. */
const margin = " ".repeat(11);

function labelled(label: string, text: string): string[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line, index) => `${margin}${index === 0 ? `${label}:` : "    "} ${line}`);
}

function summary(sections: readonly Section[]): string {
  const all = sections.flatMap(({ findings }) => findings);
  const count = (level: Finding["level"]) => all.filter((finding) => finding.level === level).length;
  const [broken, warnings] = [count("broken"), count("warning")];
  const checks = `${count("ok")} ${count("ok") === 1 ? "check" : "checks"} passed`;
  if (broken + warnings === 0) return `All is well: ${checks}.`;
  return `${broken} broken, ${warnings} ${warnings === 1 ? "warning" : "warnings"}, ${checks}.`;
}

export function reportJson(
  sections: readonly Section[],
  servers: { readonly views: readonly ServerView[]; readonly lags: ReadonlyMap<ServerView, Lag> } | undefined,
): string {
  const report = {
    exitCode: exitCodeOf(sections),
    findings: sections.flatMap(({ name, findings }) => findings.map((finding) => ({ section: name, ...finding }))),
    ...(servers === undefined
      ? {}
      : {
          servers: servers.views.map((view) => ({
            address: view.address,
            version: view.hello?.version,
            syncer: view.hello?.syncerType,
            timingsMs: view.timingsMs,
            keys: view.keys.size,
            valueBytes: view.valueBytes,
            keysPerKind: view.keysPerKind(),
            changes: view.changeCount,
            lag: servers.lags.get(view),
          })),
        }),
  };
  return JSON.stringify(report, null, 2);
}
