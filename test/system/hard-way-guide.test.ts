// Runs docs/guide/hard-way: every `sh` block, in order, in one shell, against a real kube-apiserver, exactly as printed; and a
// `console` block that follows one is what that one prints. Columns may have other widths, and lines spaces at their ends.
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { startCluster } from "../kit/cluster.ts";
import { missingForGuide, runShell } from "../kit/guide-shell.ts";

const folderOfPages = "docs/guide/hard-way";
type Block = { readonly page: string; readonly code: string; readonly prints: string | undefined };

const missing = await missingForGuide(["kubectl", "bash"]);

test("every block of the hard way works as printed, and prints what the page shows", {
  ...(missing === undefined ? {} : { skip: missing }),
  timeout: 600_000,
}, async () => {
  await using cluster = await startCluster();
  // What kubeadm has left behind.
  for (const name of ["cka001", "cka002", "cka003"])
    await cluster.must("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name } });
  const folder = mkdtempSync(join(tmpdir(), "cattail-hard-way-"));
  try {
    const blocks = blocksOf();
    ok(blocks.filter(({ prints }) => prints !== undefined).length > 5);
    writeFileSync(join(folder, "guide.sh"), scriptOf(blocks));
    const { code, output } = await runShell(join(folder, "guide.sh"), {
      cwd: folder,
      env: { ...process.env, PATH: pathWithCattail(folder), KUBECONFIG: cluster.kubeconfig },
    });
    equal(code, 0, `the guide stopped with code ${code}:\n${output.slice(-6000)}`);
    const printed = output.split(/^=== block \d+\n/m).slice(1);
    blocks.forEach(({ page, code: asked, prints }, at) => {
      if (prints !== undefined) deepEqual(lines(printed[at] ?? ""), lines(prints), `${page}:\n${asked}`);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function blocksOf(): Block[] {
  const pages = readdirSync(folderOfPages)
    .filter((name) => /^\d/.test(name))
    .sort();
  return pages.flatMap((page) => {
    const text = readFileSync(join(folderOfPages, page), "utf8");
    const found = text.matchAll(/^```sh\n([\s\S]*?)^```$(?:\n\n^```console\n([\s\S]*?)^```$)?/gm);
    return [...found].map(([, code = "", prints]) => ({ page, code, prints }));
  });
}

/** Both streams in one, as a terminal shows them. */
function scriptOf(blocks: readonly Block[]): string {
  const parts = blocks.map(({ code }, at) => `echo '=== block ${at}'\n${code}`);
  return `set -euo pipefail\nexec 2>&1\n${parts.join("\n")}\n`;
}

function lines(text: string): string[] {
  const all = text.split("\n").map((line) => line.replace(/ +/g, " ").trim());
  return all.filter((line) => line !== "");
}

/** With the checkout's program, and the Node that runs this test. */
function pathWithCattail(folder: string): string {
  const bin = join(folder, "path");
  mkdirSync(bin);
  symlinkSync(resolve("bin/cattail"), join(bin, "cattail"));
  return `${bin}:${dirname(process.execPath)}:${process.env.PATH}`;
}
