// `cattail typha`: the server, with the environment, file and flags of calico/typha.
import { writeHeapSnapshot } from "node:v8";
import { Command } from "commander";
import {
  defaultConfigFile,
  describeSettings,
  formatSettings,
  loadSettings,
  type ReadSettings,
  settingsHelp,
} from "../config/index.ts";
import { type Log, messageOf, systemClock } from "../lib/index.ts";
import { createMetrics, type Logs, localTime, openLogs } from "../observe/index.ts";
import { metricLabels, startTypha, type Typha } from "../server/index.ts";
import { build } from "./build.ts";
import { openEarlyLogs } from "./early-log.ts";
import { fail } from "./fail.ts";

/** Documented in docs/reference/exit-codes.md. */
const exitCodes = { done: 0, failed: 1, unexpected: 2 } as const;

const examples = `Examples:
  TYPHA_DATASTORETYPE=kubernetes KUBECONFIG=~/.kube/config cattail typha --print-settings
  TYPHA_DATASTORETYPE=directory TYPHA_DATASTOREDIRECTORY=manifests cattail typha`;

export function typhaCommand(): Command {
  return new Command("typha")
    .option("-c, --config-file <file>", `settings file; the environment wins over it (default: ${defaultConfigFile})`)
    .option("--print-settings", "show each setting, its value and where it comes from, and stop", false)
    .addHelpText("after", () => `\n${examples}\n\n${settingsHelp()}`)
    .action(async ({ configFile, printSettings }: { configFile?: string; printSettings: boolean }) => {
      const options = { environment: process.env, ...(configFile === undefined ? {} : { configFile }) };
      if (printSettings) print(loadSettings(options));
      else await run(await readSaying(options));
    });
}

function print(read: ReadSettings): void {
  console.log(formatSettings(describeSettings(read)));
  for (const warning of read.warnings) console.error(`cattail: ${warning}`);
}

async function readSaying(options: Parameters<typeof loadSettings>[0]): Promise<ReadSettings> {
  await using logs = await openEarlyLogs(options.environment);
  const log = logs.logger("typha.ts");
  log.info("Reading the settings", { configFile: options.configFile ?? defaultConfigFile });
  const read = loadSettings(options);
  const given = describeSettings(read).filter(({ origin }) => origin.from !== "default");
  for (const { name, value, origin } of given) log.debug("Setting", { name, value, from: origin.from });
  log.info("Settings read", { given: given.length });
  await logs.flush();
  return read;
}

async function run(read: ReadSettings): Promise<void> {
  const settings = read.values;
  const metrics = createMetrics({
    clock: systemClock,
    labels: metricLabels(settings),
    includesProcess: settings.prometheusProcessMetricsEnabled,
    includesRuntime: settings.prometheusGoMetricsEnabled,
  });
  const logs = await openLogs({
    clock: systemClock,
    screen: settings.logSeverityScreen,
    file: { path: settings.logFilePath, severity: settings.logSeverityFile },
    syslog: settings.logSeveritySys,
    format: settings.logFormat,
    keepsAll: settings.debugDisableLogDropping,
    counts: {
      dropped: (lines) => metrics.add("typha_logs_dropped", undefined, lines),
      failed: () => metrics.add("typha_log_errors", undefined, 1),
    },
  });
  const log = logs.logger("typha.ts");
  const stop = new AbortController();
  endOnSurprise(log, logs);
  log.info("Typha starting up", { ...build(), node: process.versions.node });
  for (const warning of read.warnings) log.warn(warning);
  try {
    const prefix = process.env.FELIX_INTERFACEPREFIX;
    const typha = await startTypha({
      read,
      metrics,
      log,
      version: build().version,
      signal: stop.signal,
      ...(prefix === undefined ? {} : { interfacePrefix: prefix.split(",")[0] ?? "" }),
    });
    await untilSignalled({ typha, log, heapPath: settings.debugMemoryProfilePath });
    process.exitCode = exitCodes.done;
  } catch (error) {
    log.error("Typha could not start", { problem: error instanceof Error ? error.message : String(error) });
    fail(error);
    process.exitCode = exitCodes.failed;
  } finally {
    stop.abort();
    await logs.flush();
    await logs[Symbol.asyncDispose]();
    process.exit(process.exitCode ?? exitCodes.done);
  }
}

/** SIGTERM and SIGINT shut down gently, a second one at once; SIGHUP reloads; SIGUSR1 writes a heap snapshot. */
async function untilSignalled({ typha, log, heapPath }: { typha: Typha; log: Log; heapPath: string }): Promise<void> {
  process.on("SIGHUP", (signal) => {
    log.info("Looking at the TLS files, as asked", { signal });
    void typha.reload();
  });
  process.on("SIGUSR1", () => {
    if (heapPath === "") return;
    const stamp = localTime(systemClock.wallMs()).slice(0, 19).replace(" ", "-");
    const path = heapPath.replace("<timestamp>", stamp);
    try {
      log.info("Heap snapshot written", { path: writeHeapSnapshot(path) });
    } catch (error) {
      // The original ends here; who looks into a server wants it to go on.
      log.error("Heap snapshot not written", { path, problem: messageOf(error) });
    }
  });
  const asked = Promise.withResolvers<void>();
  const again = Promise.withResolvers<void>();
  let count = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    count += 1;
    if (count === 1) {
      log.warn("Shutting down gently: clients are handed over one by one; a second signal ends it at once", { signal });
      asked.resolve();
    } else again.resolve();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  await asked.promise;
  await Promise.race([typha.shutdown(), again.promise]);
  log.info("Typha stopped");
}

// Nothing is known of the state after an error that nobody foresaw: it is written down, and a restart is the cure.
function endOnSurprise(log: Log, logs: Logs): void {
  const end = (what: string) => (error: unknown) => {
    const stack = error instanceof Error ? error.stack : String(error);
    log.error("Unexpected error; the process ends", { what, error: stack });
    void logs.flush().finally(() => process.exit(exitCodes.unexpected));
  };
  process.on("uncaughtException", end("uncaught exception"));
  process.on("unhandledRejection", end("unhandled rejection"));
}
