// ctl node diags on this machine: the archive has what the node's programs say, and the logs.
import { equal, match, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { withinTest } from "../conformance/ctl/programs.ts";

test("node diags packs the node's state and Calico's logs, and leaves no other file behind", async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), "cattail-diags-"));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  mkdirSync(join(cwd, "logs/cni"), { recursive: true });
  writeFileSync(join(cwd, "logs/cni/cni.log"), "said something\n");
  const argv = ["node", "diags", "--log-dir", join(cwd, "logs")];
  const env = { PATH: process.env.PATH ?? "" };
  const { rc, stdout } = await withinTest({ argv, env, cwd, stdin: "", timeoutMs: 120_000 });
  equal(rc, 0);
  match(stdout, /^Collecting diagnostics\nUsing temp dir: \S+calico\w+\n/);
  const [, path = ""] = /\nDiags saved to (\S+diags-\d{8}_\d{6}\.tar\.gz)\n/.exec(stdout) ?? [];
  t.after(() => rmSync(dirname(path), { recursive: true, force: true }));
  const names = execFileSync("tar", ["-tzf", path], { encoding: "utf8" }).split("\n");
  ok(names.includes("diagnostics/date"), names.join());
  ok(names.includes("diagnostics/logs/cni/cni.log"), names.join());
  equal(execFileSync("tar", ["-xzOf", path, "diagnostics/logs/cni/cni.log"], { encoding: "utf8" }), "said something\n");
  equal(
    execFileSync("ls", [dirname(path)], { encoding: "utf8" })
      .trim()
      .split("\n").length,
    1,
  );
});

test("a log folder that is missing is said, and the rest collected", async (t) => {
  const argv = ["node", "diags", "--log-dir", "/nowhere/logs"];
  const env = { PATH: process.env.PATH ?? "" };
  const { rc, stdout } = await withinTest({ argv, env, cwd: tmpdir(), stdin: "", timeoutMs: 120_000 });
  const [, path = ""] = /\nDiags saved to (\S+)\n/.exec(stdout) ?? [];
  t.after(() => rmSync(dirname(path), { recursive: true, force: true }));
  equal(rc, 0);
  match(stdout, /Error copying log files: stat \/nowhere\/logs: no such file or directory\n/);
});
