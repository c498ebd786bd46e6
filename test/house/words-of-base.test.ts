// base/ is what any project could use: no word of Calico in it, neither in its code nor in what it says. Its tests may say
// what they like: they hold to recorded answers.
import { deepEqual, ok } from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

const words = /calico|typha|felix|tigera|\bconfd\b|\bsyncer/i;

/** Words that may stand, with why. */
const argued: { readonly [file: string]: RegExp } = {
  // A room that says of itself that it knows no word has to name the word.
  "src/base/lib/index.ts": /nothing in this folder knows a word of Calico/,
  "src/base/linux/index.ts": /nothing in this room knows a word of Calico/,
  "src/base/snappy/index.ts": /Nothing in this folder has heard of Calico/,
};

test("base/ knows no word of Calico", () => {
  const files = globSync("src/base/**/*.ts").filter((file) => !/\.(test|bench)\.ts$/.test(file));
  ok(files.length > 50, "no files under src/base: is this the repository root?");
  const found = files.flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line, index) =>
        words.test(line) && argued[file]?.test(line) !== true ? [`${file}:${index + 1}: ${line.trim()}`] : [],
      ),
  );
  deepEqual(found, [], "each program brings its own words: pass them in");
});
