// The public API is written down: every export has a comment, a place on the page, and a use that a reader can copy.
import { deepEqual, equal, ok } from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { doors, libraryPage, publicNames } from "./library-page.ts";

test("the page is as the source would make it", () => {
  equal(readFileSync("docs/reference/library.md", "utf8"), libraryPage(), "run `npm run docs`");
});

test("the doors are the root with the client, and gob", () => {
  deepEqual(
    doors().map(({ specifiers }) => specifiers),
    [["cattail", "cattail/client"], ["cattail/gob"]],
  );
});

for (const { source, specifiers } of doors()) {
  const names = publicNames(source);

  test(`${specifiers.at(-1)}: the pattern sees what Node sees`, async () => {
    const module: object = await import(join(process.cwd(), source));
    deepEqual(names.flatMap(({ name, what }) => (what === "type" ? [] : [name])).sort(), Object.keys(module).sort());
  });

  for (const { name, what, says } of names) {
    test(`${specifiers.at(-1)}: ${name} has a comment${what === "type" ? "" : ", and a use in the README or an example"}`, () => {
      ok(says !== "", `put a /** comment */ in front of ${name}`);
      if (what !== "type") ok(texts(source).some((text) => new RegExp(`\\b${name}\\b`).test(text)));
    });
  }
}

function texts(source: string): string[] {
  const files = [join(dirname(source), "README.md"), ...globSync("examples/*.ts")];
  return files.map((file) => readFileSync(file, "utf8"));
}
