// A second door, for commands that run for a moment: the log, without metrics and HTTP servers.
export { type LogNames, type LogSeverity, type Logs, openLogs } from "./log/log.ts";
