// Runs the guide: every `sh` block of docs/guide, in order, in one shell, against a real kube-apiserver, exactly as
// printed. Alone, because the guide uses the ports that a reader's server would.
import { equal, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { startCluster } from "../kit/cluster.ts";
import { portInUse } from "../kit/free-port.ts";
import { missingForGuide, runShell } from "../kit/guide-shell.ts";

const pages = readdirSync("docs/guide")
  .filter((name) => /^\d/.test(name))
  .sort((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10));

const missing =
  (await missingForGuide(["kubectl", "openssl", "curl", "bash"])) ?? (await portInUse([5473, 6060, 9093, 9098]));

test("every block of the guide works as printed", {
  ...(missing === undefined ? {} : { skip: missing }),
  timeout: 600_000,
}, async () => {
  await using cluster = await startCluster();
  const folder = mkdtempSync(join(tmpdir(), "cattail-guide-"));
  try {
    const script = join(folder, "guide.sh");
    writeFileSync(
      script,
      `set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n${blocks().join("\n")}\n`,
    );
    const path = `${launcherFolder(folder)}:${process.env.PATH}`;
    const { code, output } = await runShell(script, {
      cwd: folder,
      env: { ...process.env, PATH: path, KUBECONFIG: cluster.kubeconfig },
    });
    ok(code === 0, `the guide stopped with code ${code}:\n${output.slice(-6000)}`);
    const refusals = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length;
    const wanted = refusals(blocks().join("\n"), /\|\| echo "refused, as it should be"$/gm);
    ok(wanted > 0);
    equal(refusals(output, /^refused, as it should be$/gm), wanted, "a client was let in that must not be");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Each line of a block is echoed before it runs, so that a failure shows where the guide stopped. */
function blocks(): string[] {
  return pages.flatMap((page) => {
    const text = readFileSync(join("docs/guide", page), "utf8");
    const found = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block.trim());
    return found.flatMap((block) => [`echo '=== ${page}'`, `set -v`, block, `{ set +v; } 2>/dev/null`]);
  });
}

function launcherFolder(folder: string): string {
  const bin = join(folder, "bin");
  execFileSync("mkdir", [bin]);
  writeFileSync(
    join(bin, "cattail"),
    `#!/bin/sh\nexec ${process.execPath} ${resolve("src/programs/main/main.ts")} "$@"\n`,
    {
      mode: 0o755,
    },
  );
  return bin;
}
