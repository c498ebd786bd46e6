// How Typha is called in its log, and the log before there are settings to say what to log: to standard output, at TYPHA_EARLYLOGSEVERITYSCREEN, else
// TYPHA_LOGSEVERITYSCREEN, else errors only; in the original's words.
import { systemClock } from "../../base/lib/index.ts";
import { type LogNames, type LogSeverity, type Logs, openLogs } from "../../base/observe/index.ts";

export const typhaLogNames: LogNames = {
  component: "typha",
  syslogTag: "calico-typha",
  whenNoFile: "Set TYPHA_LOGFILEPATH to a file that this user may write, or to none to log to standard output only",
};

const severities: { readonly [name: string]: LogSeverity } = {
  panic: "CRITICAL",
  fatal: "CRITICAL",
  critical: "CRITICAL",
  error: "ERROR",
  warn: "WARNING",
  warning: "WARNING",
  info: "INFO",
  debug: "DEBUG",
  trace: "DEBUG",
  none: "",
};

export async function openEarlyLogs(environment: NodeJS.ProcessEnv): Promise<Logs> {
  const asked = environment.TYPHA_EARLYLOGSEVERITYSCREEN || environment.TYPHA_LOGSEVERITYSCREEN || "error";
  // A value that is none of these stops the start a moment later, by name.
  return openLogs({ names: typhaLogNames, clock: systemClock, screen: severities[asked.toLowerCase()] ?? "ERROR" });
}
