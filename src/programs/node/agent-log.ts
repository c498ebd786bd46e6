// The agent's log, where its settings say, from the severities that they say, which may change while it runs.
import { type Log, messageOf, systemClock } from "../../base/lib/index.ts";
import { type LogDestination, type LogSeverity, type Logs, openLogs } from "../../base/observe/index.ts";
import type { TypedSettings } from "../../node/settings/index.ts";

const settingOf = {
  screen: "LogSeverityScreen",
  file: "LogSeverityFile",
  syslog: "LogSeveritySys",
} as const satisfies { readonly [D in LogDestination]: string };

const others: { readonly [name: string]: LogSeverity } = { TRACE: "DEBUG", FATAL: "CRITICAL" };

export async function openAgentLogs(
  component: string,
  settings: TypedSettings,
  counts: { dropped(lines: number): void; failed(): void },
): Promise<Logs> {
  const severity = (destination: LogDestination): LogSeverity => {
    const asked = settings.value(settingOf[destination]);
    return others[asked] ?? (asked as LogSeverity); // the rest have the same names
  };
  const isFileOff = process.env.CALICO_DISABLE_FILE_LOGGING === "true";
  const filePath = (): string => (isFileOff ? "" : settings.value("LogFilePath"));
  const logs = await openLogs({
    names: {
      component,
      syslogTag: "calico-felix",
      whenNoFile:
        "Set FELIX_LOGFILEPATH to a file that this user may write, or CALICO_DISABLE_FILE_LOGGING=true to log to standard output only",
    },
    clock: systemClock,
    screen: severity("screen"),
    file: { path: filePath(), severity: severity("file") },
    syslog: severity("syslog"),
    format: settings.value("LogFormat"),
    keepsAll: settings.value("DebugDisableLogDropping"),
    counts,
  });
  const destinations = ["screen", "file", "syslog"] as const;
  settings.onChange(Object.values(settingOf), () => {
    for (const destination of destinations) logs.setSeverity(destination, severity(destination));
  });
  settings.onChange(["DebugDisableLogDropping"], () => logs.setKeepsAll(settings.value("DebugDisableLogDropping")));
  const reopen = async (): Promise<void> => {
    try {
      await logs.setFile(filePath());
    } catch (error) {
      logs.logger(component).error("The log goes where it went before", { problem: messageOf(error) });
    }
  };
  let reopened = Promise.resolve(); // one after the other, so that the last path stays
  settings.onChange(["LogFilePath"], () => {
    reopened = reopened.then(reopen);
  });
  const setDebugFiles = (): void => logs.setDebugFiles(settings.value("LogDebugFilenameRegex"));
  setDebugFiles();
  settings.onChange(["LogDebugFilenameRegex"], setDebugFiles);
  return logs;
}

/** What is said before the settings are read that say where to. */
export class EarlyLog implements Log {
  readonly #said: { level: keyof Log; message: string; fields: object }[] = [];
  #to: Log | undefined;

  readonly debug = this.#at("debug");
  readonly info = this.#at("info");
  readonly warn = this.#at("warn");
  readonly error = this.#at("error");

  replay(to: Log): void {
    this.#to = to;
    for (const { level, message, fields } of this.#said.splice(0)) to[level](message, { ...fields });
  }

  #at(level: keyof Log): Log["info"] {
    return (message, fields = {}) => {
      if (this.#to !== undefined) this.#to[level](message, fields);
      else this.#said.push({ level, message, fields });
    };
  }
}
