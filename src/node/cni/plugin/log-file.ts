// The plugin's log: a file, where the configuration names one. Never standard output, which is the runtime's.
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { EndpointSettings } from "../../endpoints/index.ts";

export type WriteLog = (level: "info" | "warning" | "error", text: string) => void;

/** A line that cannot be written is no reason to leave a pod without a network. */
export function openLogFile({ logFile, logLevel }: EndpointSettings, now: () => number): WriteLog {
  if (logFile === undefined) return () => undefined;
  return (level, text) => {
    if (logLevel === "error" && level !== "error") return;
    const time = new Date(now()).toISOString().replace("T", " ").replace("Z", "");
    const line = `${time} [${level.toUpperCase()}][${process.pid}] cni-plugin/plugin: ${text.replaceAll("\n", " ")}\n`;
    try {
      mkdirSync(dirname(logFile), { recursive: true });
      appendFileSync(logFile, line);
    } catch {
      // said nowhere: the runtime shows the error itself
    }
  };
}
