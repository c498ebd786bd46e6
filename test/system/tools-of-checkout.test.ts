// Tools that npm starts: what they do with words that they do not know, and that they end with npm.
import { deepEqual, equal, match } from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { eventually } from "../kit/eventually.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-tools-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const words: { given: string[]; code: number }[] = [
  { given: ["--help"], code: 0 },
  { given: ["-h"], code: 0 },
  { given: ["--output", "a"], code: 2 },
  { given: ["a", "b"], code: 2 },
  { given: [""], code: 2 },
];
for (const { given, code } of words)
  test(`build:binary ${JSON.stringify(given)} builds nothing, and says what it takes`, () => {
    const ended = spawnSync(process.execPath, [resolve("tools/build-binary.ts"), ...given], { cwd: folder });
    equal(ended.status, code, String(ended.stderr));
    match(String(code === 0 ? ended.stdout : ended.stderr), /^usage: npm run build:binary -- \[FOLDER\]/);
    deepEqual(readdirSync(folder), []);
  });

const proc = existsSync("/proc/self/stat") ? false : "processes are looked at in /proc";

for (const shell of ["exec node", "node"])
  for (const signal of ["SIGTERM", "SIGKILL"] as const)
    test(`a tool that keeps servers ends with npm: ${signal}, "${shell}"`, { skip: proc }, async () => {
      const own = mkdtempSync(join(folder, "run-"));
      const [started, gone] = [join(own, "started"), join(own, "gone")];
      const tool = join(own, "tool.mts");
      writeFileSync(
        tool,
        `import { writeFileSync } from "node:fs";
        import { starterGone } from ${JSON.stringify(resolve("tools/ends-with-starter.ts"))};
        const servers = setInterval(() => undefined, 1000);
        const ended = starterGone(50);
        writeFileSync(${JSON.stringify(started)}, String(process.pid));
        await ended;
        clearInterval(servers);
        writeFileSync(${JSON.stringify(gone)}, "");`,
      );
      const line = `${shell.replace("node", process.execPath)} ${tool}; true`;
      const npm = `require("node:child_process").spawn("sh", ["-c", ${JSON.stringify(line)}]); setInterval(() => 0, 1000)`;
      const starter = spawn(process.execPath, ["-e", npm], { argv0: "npm", stdio: "ignore" });
      await eventually(() => existsSync(started) && readFileSync(started, "utf8") !== "", "the tool runs");
      const exited = once(starter, "exit");
      starter.kill(signal);
      await exited;
      await eventually(() => existsSync(gone), "the tool has ended");
    });
