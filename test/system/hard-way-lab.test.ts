// Runs the pages of the hard way that need a network: every `bash` block, in order, in one shell, in a lab of its own, exactly as printed but for the
// lab's folder; a `console` block that follows one is what that one prints.
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { cattail } from "../kit/cattail-process.ts";
import { runShell } from "../kit/guide-shell.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { missingProgram } from "../kit/programs.ts";

const skip =
  noNamespaces || missingProgram("nft") || missingProgram("ping") || missingProgram("ip") || missingProgram("bash");
const usualFolder = "/run/cattail-lab";

for (const page of ["7-test-networking.md", "8-test-policy.md"]) {
  test(`${page} works as printed, in a lab`, { skip, timeout: 600_000 }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "cattail-guide-lab-"));
    const lab = join(folder, "lab");
    t.after(async () => {
      await cattail(["lab", "down", "--folder", lab]);
      rmSync(folder, { recursive: true, force: true });
    });
    const blocks = blocksOf(readFileSync(join("docs/guide/hard-way", page), "utf8"));
    ok(blocks.filter(({ prints }) => prints !== undefined).length > 2);
    const script = blocks.map(({ code }, at) => `echo '=== block ${at}'\n${code.replaceAll(usualFolder, lab)}`);
    writeFileSync(join(folder, "guide.sh"), `set -euo pipefail\nexec 2>&1\n${script.join("\n")}\n`);
    const { code, output } = await runShell(join(folder, "guide.sh"), {
      cwd: folder,
      env: { PATH: pathWithCattail(folder), HOME: folder, CATTAIL_LAB_FOLDER: lab },
    });
    equal(code, 0, `the page stopped with code ${code}:\n${output.slice(-6000)}`);
    const printed = output.split(/^=== block \d+\n/m).slice(1);
    blocks.forEach(({ code: asked, prints }, at) => {
      if (prints !== undefined) deepEqual(lines(printed[at] ?? ""), lines(prints), asked);
    });
  });
}

type Block = { readonly code: string; readonly prints: string | undefined };

function blocksOf(text: string): Block[] {
  const found = text.matchAll(/^```bash\n([\s\S]*?)^```$(?:\n\n^```console\n([\s\S]*?)^```$)?/gm);
  return [...found].map(([, code = "", prints]) => ({ code, prints }));
}

function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.replace(/ +/g, " ").trim())
    .filter((line) => line !== "");
}

/** With the checkout's program, and the Node that runs this test. */
function pathWithCattail(folder: string): string {
  const bin = join(folder, "path");
  mkdirSync(bin);
  symlinkSync(resolve("bin/cattail"), join(bin, "cattail"));
  return `${bin}:${dirname(process.execPath)}:${process.env.PATH}`;
}
