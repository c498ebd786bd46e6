// The plugin's log: a file, where the configuration names one. Never standard output, which is the runtime's. A file that has grown too large is set
// aside under the time of day, as NAME-2026-11-17T03-04-05.678.log, and old ones go. Calls at the same time may both set it aside: then one of the
// two files is short.
import {
  appendFileSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { plainLine } from "../../../base/lib/index.ts";
import { makeFoldersSync } from "../../../base/linux/files.ts";
import type { EndpointSettings } from "../../endpoints/index.ts";

export type WriteLog = (level: "info" | "warning" | "error", text: string) => void;

const megabyte = 1 << 20;
const dayMs = 86_400_000;

/** A line that cannot be written is no reason to leave a pod without a network. */
export function openLogFile(settings: EndpointSettings, now: () => number): WriteLog {
  const { logFile, logLevel } = settings;
  if (logFile === undefined) return () => undefined;
  return (level, text) => {
    if (logLevel === "error" && level !== "error") return;
    const time = new Date(now()).toISOString().replace("T", " ").replace("Z", "");
    const line = `${time} [${level.toUpperCase()}][${process.pid}] cni-plugin/plugin: ${plainLine(text.replaceAll("\n", " "))}\n`;
    try {
      makeFoldersSync(dirname(logFile));
      rotate(logFile, settings.logRotation, now());
      append(logFile, line);
    } catch {
      // said nowhere: the runtime shows the error itself
    }
  };
}

/** The folder may belong to a calico-node that is not root: only a link of our own user is followed. */
function append(file: string, line: string): void {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  const isOwnLink = stats?.isSymbolicLink() === true && stats.uid === process.getuid?.();
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  const fd = openSync(isOwnLink ? realpathSync(file) : file, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o644);
  try {
    appendFileSync(fd, line);
  } finally {
    closeSync(fd);
  }
}

function rotate(file: string, limits: EndpointSettings["logRotation"], wallMs: number): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size < limits.maxMegabytes * megabyte) return;
  const ending = extname(file);
  const stem = `${basename(file, ending)}-`;
  const time = new Date(wallMs).toISOString().replaceAll(":", "-").replace("Z", "");
  renameSync(file, join(dirname(file), `${stem}${time}${ending}`));
  const old = readdirSync(dirname(file))
    .filter((name) => name.startsWith(stem) && name.endsWith(ending) && isTime(name.slice(stem.length)))
    .sort()
    .reverse();
  for (const [at, name] of old.entries()) {
    const path = join(dirname(file), name);
    const isOld = wallMs - statSync(path).mtimeMs > limits.maxDays * dayMs;
    if (at >= limits.maxFiles || isOld) rmSync(path, { force: true });
  }
}

function isTime(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}/.test(text);
}
