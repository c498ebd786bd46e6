// What cluster diags was asked for. Pure; refusals in the original's words, which stand on standard output.
import type { Invocation } from "../command.ts";
import { CtlError } from "../console.ts";

export type DiagsOptions = {
  /** 0: all of a log. */
  readonly sinceSeconds: number;
  /** Pods of each part of Calico whose logs are taken. */
  readonly mostPods: number;
  readonly atOnce: number;
  /** Looked at first. */
  readonly focusNodes: readonly string[];
  readonly keepsFiles: boolean;
};

const seconds: { readonly [unit: string]: number } = { s: 1, m: 60, h: 3600 };

export function diagsOptions({ value, isSet }: Pick<Invocation, "value" | "isSet">): DiagsOptions {
  const since = value("since") ?? "";
  const [, digits = "0", unit = "s"] = /^(\d{1,9})([smh])$/.exec(since === "" ? "0s" : since) ?? [];
  if (since !== "" && !/^\d{1,9}[smh]$/.test(since)) {
    throw refused(`invalid duration for since flag (try 10s, 5m, or 1h): ${since}`);
  }
  const mostPods = Number(value("max-logs") ?? 5);
  if (mostPods < 0) throw refused("negative value for max-logs flag");
  const atOnce = Number(value("max-parallelism") ?? 10);
  if (atOnce < 1) throw refused("value of max-parallelism flag must be 1 or more");
  const focusNodes = (value("focus-nodes") ?? "").split(",").flatMap((node) => node.trim() || []);
  const sinceSeconds = Number(digits) * (seconds[unit] ?? 1);
  return { sinceSeconds, mostPods, atOnce, focusNodes, keepsFiles: isSet("skip-temp-dir-cleanup") };
}

function refused(why: string): CtlError {
  return new CtlError(`Error executing command: ${why}`, { stream: "stdout" });
}
