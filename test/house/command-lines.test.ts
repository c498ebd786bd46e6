// Every `cattail` command line that a page shows is one that the program takes. (test/alone/guide.test.ts runs the guide;
// test/house/pages.test.ts follows the links.)
import { deepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import { cattail } from "../kit/cattail-process.ts";
import { codeOf, pages } from "../kit/pages.ts";

type Command = { readonly path: string; readonly words: readonly string[] };

test("every cattail command line on a page is one that the program takes", async () => {
  // The completion script is made by walking all commands.
  const script = (await cattail(["completion", "bash"])).stdout;
  const commands = [...script.matchAll(/^ {4}"([^"]*)"\) echo "([^"]*)";;$/gm)].map(([, path = "", words = ""]) => ({
    path,
    words: words.split(" "),
  }));
  ok(commands.length > 8);
  const lines = pages().flatMap((page) =>
    codeOf(page).flatMap((code) => commandLines(code).map((line) => ({ page, line }))),
  );
  ok(lines.length > 30, `only ${lines.length} command lines were found`);
  const wrong = lines.flatMap(({ page, line }) => {
    const problem = problemOf(line, commands);
    return problem === undefined ? [] : [`${page.file}: ${line}: ${problem}`];
  });
  deepEqual(wrong, []);
});

/** What follows the program's name, up to the end of that command. */
function commandLines(code: string): string[] {
  return [...code.matchAll(/(?:^|[\s!(=]|bin\/)cattail ((?!\s)[^|>&;)]*)/g)].map(([, line = ""]) => line.trim());
}

/** Undefined: fine. A word in capitals, or an ellipsis, stands for something. */
function problemOf(line: string, commands: readonly Command[]): string | undefined {
  let at = commands.find(({ path }) => path === "");
  for (const word of line.split(/\s+/)) {
    const long = /^(--[a-z-]+)/.exec(word)?.[1];
    if (long !== undefined) {
      if (!at?.words.includes(long) && long !== "--version") return `no option ${long}`;
      continue;
    }
    const child = commands.find(({ path }) => path === `${at?.path ?? ""} ${word}`.trim());
    if (child !== undefined) at = child;
    else if (at?.path === "" && /^[a-z]/.test(word)) return `no command ${word}`;
  }
  return undefined;
}
