// Nothing is exported for nobody: a function, constant or class that no other file names is private, or dead. (Types are left alone: they are often named
// only by what is made of them.)
import { deepEqual, ok } from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

const sources = globSync("{src,test,tools,bench,web,examples}/**/*.{ts,tsx}");
const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");

test("every function, constant and class that is exported is named in another file", () => {
  const texts = new Map(sources.map((file) => [file, withoutComments(readFileSync(file, "utf8"))]));
  const namedIn = new Map<string, number>();
  for (const text of texts.values())
    for (const word of new Set(text.match(/[A-Za-z_$][\w$]*/g))) namedIn.set(word, (namedIn.get(word) ?? 0) + 1);
  const exported = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(/^export (?:async )?(?:function\*?|const|class) ([A-Za-z_$][\w$]*)/gm)].map(([, name = ""]) => ({
      file,
      name,
    })),
  );
  ok(exported.length > 1000);
  deepEqual(
    exported.filter(({ name }) => namedIn.get(name) === 1).map(({ file, name }) => `${file}: ${name}`),
    [],
  );
});
