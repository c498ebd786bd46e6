// A test file that never ends is ended, fails by its name, and the run goes on.
import { deepEqual, match } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";

const testFiles = {
  good: `import { test } from "node:test"; test("good", () => {});`,
  deaf: `import { test } from "node:test"; process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); test("deaf", () => {});`,
  spinning: `import { test } from "node:test"; test("spins", () => { for (;;); });`,
};

const runner = `
  import { run } from "node:test";
  import { StuckFiles } from ${JSON.stringify(new URL("stuck-files.ts", import.meta.url).href)};
  const stuck = new StuckFiles(4_000);
  for await (const event of run({ files: process.argv.slice(2), concurrency: 3, timeout: 2_000 })) {
    stuck.note(event);
    if (["test:pass", "test:fail"].includes(event.type)) console.log(event.type, event.data.name);
  }
  stuck[Symbol.dispose]();`;

for (const paths of ["whole", "relative"]) {
  test(`files that end neither by themselves nor when asked are ended, and only they fail: ${paths} paths`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), "cattail-stuck-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const written = Object.entries(testFiles).map(([name, text]) => {
      const path = join(folder, `${name}.test.mjs`);
      writeFileSync(path, text);
      return paths === "whole" ? path : basename(path);
    });
    writeFileSync(join(folder, "runner.ts"), runner);
    // This variable tells a process that it is itself a test's; a run that it starts would do nothing.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const output = execFileSync(process.execPath, [join(folder, "runner.ts"), ...written], {
      encoding: "utf8",
      timeout: 60_000,
      cwd: folder,
      env,
    });
    const results = output.split("\n").filter((line) => line.startsWith("test:"));
    deepEqual(results.map((line) => line.replace(`${folder}/`, "")).sort(), [
      "test:fail deaf.test.mjs",
      "test:fail spinning.test.mjs",
      "test:pass deaf",
      "test:pass good",
    ]);
    match(output, /ENDED {3}\S*spinning\.test\.mjs: nothing was heard of it for 4 s/);
  });
}
