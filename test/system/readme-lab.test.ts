// The README's commands for the lab, as a newcomer pastes them: in order, as printed, on a machine that has none of Calico's folders yet.
// (A mount namespace with an empty /run stands for such a machine: there the lab's own folder lies where the nodes get folders of their own.)
import { equal, match, ok } from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { runShell } from "../kit/guide-shell.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { missingProgram } from "../kit/programs.ts";

const skip = noNamespaces || missingProgram("nft") || missingProgram("unshare") || missingProgram("bash");

test("the README's lab: a green matrix, a breakage and its name, a way, a verdict, and nothing left", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-readme-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [, block = ""] = /```sh\n(\.\/bin\/cattail lab up [\s\S]*?)```/.exec(readFileSync("README.md", "utf8")) ?? [];
  const commands = block.trim().split("\n");
  ok(commands.length >= 5, block);
  const inside = commands.map((command) => `${command}\necho "=== $?"`);
  writeFileSync(join(folder, "commands.sh"), [...inside, "ls /run"].join("\n"));
  const fresh = "mount -t tmpfs tmpfs /run && { [ -L /var/run ] || mount -t tmpfs tmpfs /var/run; }";
  const script = `exec 2>&1\nexec unshare --mount --propagation private bash -c '${fresh} && exec bash ${folder}/commands.sh'\n`;
  writeFileSync(join(folder, "fresh.sh"), script);
  const env = { ...process.env, CATTAIL_LAB_FOLDER: undefined };
  const { code, output } = await runShell(join(folder, "fresh.sh"), { cwd: process.cwd(), env });
  equal(code, 0, output);
  const [upAndPing = "", broken = "", way = "", verdict = "", down = "", left = ""] = output.split(/^=== /m);
  equal(upAndPing.match(/^All pings are answered: .* second pool \d+\/\d+/gm)?.length, 2, output); // of `up` and of `ping`
  match(broken, /^0\n/, output); // how the commands before ended
  match(broken, /\bUNDERLAY_DROPS_PODS\b/, output);
  match(way, /^2\n/, output);
  match(way, /\bUNDERLAY_DROPS_PODS\b/, output);
  match(verdict, /^2\n[\s\S]*ALLOWED/, output);
  match(down, /^0\n/, output);
  equal(left.replace(/^mount$/m, "").trim(), "0", "the lab is gone, and so is all that it had in /run"); // mount keeps notes there
});
