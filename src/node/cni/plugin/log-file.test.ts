// The log file: one that has grown too large is set aside, and of those only some are kept.
import { deepEqual, equal, match } from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readEndpointSettings } from "../../endpoints/index.ts";
import { openLogFile } from "./log-file.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-log-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const wallMs = Date.UTC(2026, 10, 17, 3, 4, 5, 678);

test("lines are added, and those below the level are left out", () => {
  const path = join(folder, "new", "cni.log");
  const log = openLogFile(readEndpointSettings({ name: "net", log_file_path: path, log_level: "error" }), () => wallMs);
  log("info", "nobody reads it");
  log("error", "two\nlines");
  match(readFileSync(path, "utf8"), /^2026-11-17 03:04:05\.678 \[ERROR\]\[\d+\] cni-plugin\/plugin: two lines\n$/);
});

test("a file of the largest size is set aside; too many and too old ones go, and files of others stay", () => {
  const path = join(folder, "cni.log");
  mkdirSync(folder, { recursive: true });
  const settings = { log_file_path: path, log_file_max_size: 1, log_file_max_count: 2, log_file_max_age: 5 };
  const log = openLogFile(readEndpointSettings({ name: "net", ...settings }), () => wallMs);
  for (const day of ["10", "15", "16"]) writeFileSync(join(folder, `cni-2026-11-${day}T00-00-00.000.log`), day);
  utimesSync(join(folder, "cni-2026-11-16T00-00-00.000.log"), wallMs / 1000 - 6 * 86_400, wallMs / 1000 - 6 * 86_400);
  writeFileSync(join(folder, "cni-other.log"), "");
  writeFileSync(path, "");
  truncateSync(path, 1 << 20);
  log("info", "first line of the new file");
  const names = readdirSync(folder).filter((name) => name.startsWith("cni"));
  deepEqual(names.sort(), ["cni-2026-11-17T03-04-05.678.log", "cni-other.log", "cni.log"]);
  equal(readFileSync(path, "utf8").split("\n").length, 2);
});

test("where it cannot be written, nothing happens", () => {
  const log = openLogFile(readEndpointSettings({ name: "net", log_file_path: "/dev/null/none/cni.log" }), () => wallMs);
  log("info", "lost");
});
