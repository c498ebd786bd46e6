// docs/reference/library.md: every name that the package's doors export, with the first sentence of its comment. Read
// from the sources with patterns, because TypeScript 7 ships no JavaScript API to ask; the patterns only have to fit how
// our own index files are written, and library-page.test.ts says so when they do not.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export type PublicName = {
  readonly name: string;
  readonly what: "function" | "class" | "const" | "type";
  /** The first sentence of its comment; "" where there is none. */
  readonly says: string;
};

export type Door = { readonly specifiers: readonly string[]; readonly source: string };

/** The package's doors: names for the same file are one door. */
export function doors(): Door[] {
  // our own package.json
  const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as { exports: { [path: string]: unknown } };
  const bySource = new Map<string, string[]>();
  for (const [path, target] of Object.entries(exports)) {
    if (!isSource(target)) continue;
    const source = target[sourceCondition];
    bySource.set(source, [...(bySource.get(source) ?? []), path.replace(/^\./, "cattail")]);
  }
  return [...bySource].map(([source, specifiers]) => ({ source: join(source), specifiers }));
}

/** What package.json calls the way to the sources. */
const sourceCondition = "cattail-source";

function isSource(target: unknown): target is { [sourceCondition]: string } {
  const source = (target as { [sourceCondition]?: unknown } | null)?.[sourceCondition]; // an object of conditions, or none
  return typeof source === "string";
}

/** What a file exports: its own declarations, and those it hands on from other files. */
export function publicNames(file: string): PublicName[] {
  const text = readFileSync(file, "utf8");
  const handedOn = [...text.matchAll(/^export (?:type )?(\*|\{[^}]*\}) from "([^"]+)";$/gm)];
  const others = handedOn.flatMap(([, names = "", specifier = ""]) => {
    const all = publicNames(join(dirname(file), specifier));
    if (names === "*") return all;
    return namesIn(names).map(({ wanted, isType }) => {
      const found = all.find(({ name }) => name === wanted);
      if (found === undefined) throw new Error(`${file} exports ${wanted}, which ${specifier} does not declare`);
      return isType ? { ...found, what: "type" as const } : found; // a class whose constructor is not handed on
    });
  });
  return [...declarations(text), ...others].sort((a, b) => a.name.localeCompare(b.name, "en"));
}

function namesIn(list: string): { wanted: string; isType: boolean }[] {
  return [...list.matchAll(/(type )?(\w+)(?=\s*[,}])/g)].map(([, type, wanted = ""]) => ({
    wanted,
    isType: type !== undefined,
  }));
}

const declaration = /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^export (?:async )?(function|class|const|type)\*? (\w+)/gm;

function declarations(text: string): PublicName[] {
  const found = new Map<string, PublicName>();
  for (const [, comment = "", what = "", name = ""] of text.matchAll(declaration)) {
    // The overloads of a function share the comment of the first.
    if (!found.has(name)) found.set(name, { name, what: what as PublicName["what"], says: firstSentence(comment) }); // one of the four in the pattern
  }
  return [...found.values()];
}

function firstSentence(comment: string): string {
  const text = comment
    .replaceAll(/\n\s*\*/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return /^(.*?(?<!e\.g)\.(?= )|.*)/.exec(text)?.[1] ?? "";
}

export function libraryPage(): string {
  return `# The library

Everything that a program can import, with the first sentence of its comment; editors show the rest.
Names on this page are what version numbers speak about ([CHANGELOG.md](../../CHANGELOG.md)). What is not on it cannot be imported.
[src/typha/client/README.md](../../src/typha/client/README.md) and [src/base/gob/README.md](../../src/base/gob/README.md) explain them with examples that
run; [examples/](../../examples/) has whole programs; [decision 0015](../decisions/0015-public-api.md) says why it is these.

Made by \`npm run docs\` from the exports in package.json and the comments in the source.
${doors().map(section).join("")}`;
}

function section({ specifiers, source }: Door): string {
  const rows = publicNames(source).map(
    ({ name, what, says }) => `| \`${name}\` | ${what} | ${says.replaceAll("|", "\\|")} |`,
  );
  return `
## ${specifiers.map((specifier) => `\`${specifier}\``).join(", ")}

| name | is a | what for |
|---|---|---|
${rows.join("\n")}
`;
}
