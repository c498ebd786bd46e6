// The configuration file's format, as the original's library (gopkg.in/ini.v1, with its defaults) reads it: sections are
// allowed and mean nothing, "#" and ";" start a comment even inside quotes, back-ticks and triple quotes do not end at the
// line's end.

export type IniEntry = {
  readonly key: string;
  readonly value: string;
  readonly line: number;
  readonly section: string;
};
export type Ini =
  | { readonly is: "entries"; readonly entries: IniEntry[] }
  | { readonly is: "broken"; readonly why: string };

export function parseIni(text: string): Ini {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const entries: IniEntry[] = [];
  let section = "";
  for (let at = 0; at < lines.length; at++) {
    const line = (lines[at] ?? "").trim();
    if (line === "" || line.startsWith("#") || line.startsWith(";")) continue;
    const number = at + 1;
    if (line.startsWith("[")) {
      const end = line.lastIndexOf("]");
      if (end < 0) return broken(number, `the section ${JSON.stringify(line)} is not closed`);
      section = line.slice(1, end).trim();
      if (section === "") return broken(number, "a section has no name");
      continue;
    }
    const split = splitKey(line);
    if (split === undefined) return broken(number, `${JSON.stringify(line)} has no "=" or ":"`);
    if (split.key === "") return broken(number, "there is no name before the delimiter");
    const read = readValue(split.rest, lines, at);
    if (read === undefined) return broken(number, `the quoted value of ${split.key} does not end`);
    entries.push({ key: split.key, value: read.value, line: number, section });
    at = read.lastLine;
  }
  return { is: "entries", entries };
}

function broken(line: number, why: string): Ini {
  return { is: "broken", why: `line ${line}: ${why}` };
}

function splitKey(line: string): { key: string; rest: string } | undefined {
  // A key may be quoted, and then hold the delimiters.
  const quote = line.startsWith('"""') ? '"""' : line.startsWith("`") ? "`" : line.startsWith('"') ? '"' : "";
  const keyEnd = quote === "" ? 0 : line.indexOf(quote, quote.length);
  if (quote !== "" && keyEnd < 0) return undefined;
  const delimiter = line.slice(keyEnd).search(/[=:]/);
  if (delimiter < 0) return undefined;
  const key = quote === "" ? line.slice(0, delimiter).trim() : line.slice(quote.length, keyEnd);
  return { key, rest: line.slice(keyEnd + delimiter + 1).trim() };
}

function readValue(rest: string, lines: string[], at: number): { value: string; lastLine: number } | undefined {
  for (const quote of ['"""', "`"])
    if (rest.startsWith(quote)) return readVerbatim(rest.slice(quote.length), quote, lines, at);
  if (rest.endsWith("\\")) return readContinued(rest.slice(0, -1), lines, at);
  // The comment is cut before the quotes are looked at, so quotes do not protect "#" and ";".
  const comment = rest.search(/[#;]/);
  return { value: withoutQuotes(comment < 0 ? rest : rest.slice(0, comment).trim()), lastLine: at };
}

/** Comments and quotes in a value of several lines are parts of it. An empty line ends it, too. */
function readContinued(first: string, lines: string[], at: number): { value: string; lastLine: number } {
  let value = first;
  for (let lastLine = at + 1; ; lastLine++) {
    const next = (lines[lastLine] ?? "").trim();
    value += next;
    if (next === "" || !value.endsWith("\\")) return { value, lastLine };
    value = value.slice(0, -1);
  }
}

function readVerbatim(
  first: string,
  quote: string,
  lines: string[],
  at: number,
): { value: string; lastLine: number } | undefined {
  const parts: string[] = [];
  for (let lastLine = at; lastLine < lines.length; lastLine++) {
    const line = lastLine === at ? first : (lines[lastLine] ?? "");
    const end = line.lastIndexOf(quote); // so that the value may hold it
    if (end >= 0) return { value: [...parts, line.slice(0, end)].join("\n"), lastLine };
    parts.push(line);
  }
  return undefined;
}

function withoutQuotes(value: string): string {
  const [quote] = value;
  const isQuoted =
    (quote === '"' || quote === "'") && value.length >= 2 && value.indexOf(quote, 1) === value.length - 1;
  return isQuoted ? value.slice(1, -1) : value;
}
