// `cattail typha`: the server, with the environment, file and flags of calico/typha.
import { writeHeapSnapshot } from "node:v8";
import { Command } from "commander";
import { type Log, messageOf, systemClock } from "../../base/lib/index.ts";
import { localTime, openLogs } from "../../base/observe/index.ts";
import { createTyphaMetrics, startTypha, type Typha } from "../../typha/server/index.ts";
import {
  defaultConfigFile,
  describeSettings,
  formatSettings,
  loadSettings,
  type ReadSettings,
  settingsHelp,
} from "../../typha/settings/index.ts";
import { build } from "../shared/build.ts";
import { fail } from "../shared/fail.ts";
import { endOnSurprise, serverExitCodes } from "../shared/server-ends.ts";
import { isEnding, type ServerSignal, ServerSignals } from "../shared/server-signals.ts";
import { openEarlyLogs, typhaLogNames } from "./typha-log.ts";

const examples = `Examples:
  TYPHA_DATASTORETYPE=kubernetes KUBECONFIG=~/.kube/config cattail typha --print-settings
  TYPHA_DATASTORETYPE=directory TYPHA_DATASTOREDIRECTORY=manifests cattail typha`;

export function typhaCommand(signals?: ServerSignals): Command {
  return new Command("typha")
    .option(
      "-c, --config-file <file>",
      `settings file; the environment has priority over it (default: ${defaultConfigFile})`,
    )
    .option("--print-settings", "print each setting, its value and where it comes from, then exit", false)
    .addHelpText("after", () => `\n${examples}\n\n${settingsHelp()}`)
    .action(async ({ configFile, printSettings }: { configFile?: string; printSettings: boolean }) => {
      const options = { environment: process.env, ...(configFile === undefined ? {} : { configFile }) };
      if (printSettings) {
        signals?.release();
        print(loadSettings(options));
      } else await run(await readSaying(options), signals ?? new ServerSignals());
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
  return read;
}

async function run(read: ReadSettings, signals: ServerSignals): Promise<void> {
  const settings = read.values;
  const metrics = createTyphaMetrics(settings, { clock: systemClock });
  const logs = await openLogs({
    names: typhaLogNames,
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
  endOnSurprise(log, logs);
  log.info("Typha starting up", { ...build(), node: process.versions.node });
  for (const warning of read.warnings) log.warn(warning);
  try {
    await serve({ read, metrics, log }, answerSignals(signals, { log, heapPath: settings.debugMemoryProfilePath }));
    log.info("Typha stopped");
    process.exitCode = serverExitCodes.done;
  } catch (error) {
    fail(error);
    process.exitCode = serverExitCodes.failed;
  } finally {
    await logs[Symbol.asyncDispose]();
    process.exit(process.exitCode ?? serverExitCodes.done);
  }
}

type Asked = {
  readonly toStop: Promise<void>;
  /** Twice: it is to end at once. */
  readonly again: Promise<void>;
  /** To be told who looks at the TLS files. */
  started(typha: Typha): void;
};

/** Ends when it was asked to: while it starts at once, later gently, unless it is asked again. */
async function serve(
  of: Pick<Parameters<typeof startTypha>[0], "read" | "metrics" | "log">,
  asked: Asked,
): Promise<void> {
  const { log } = of;
  const said = (what: string) => (error: unknown) => {
    log.error(what, { problem: messageOf(error) });
    throw error;
  };
  const prefix = process.env.FELIX_INTERFACEPREFIX;
  const starting = startTypha({
    ...of,
    version: build().version,
    signal: new AbortController().signal, // the process ends with us
    ...(prefix === undefined ? {} : { interfacePrefix: prefix.split(",")[0] ?? "" }),
  }).catch(said("Typha could not start"));
  const typha = await Promise.race([starting, asked.toStop]);
  if (typha === undefined) return;
  asked.started(typha);
  await asked.toStop;
  await Promise.race([typha.shutdown().catch(said("Typha could not stop in good order")), asked.again]);
}

/** SIGTERM and SIGINT shut down gently, a second one at once; SIGHUP reloads; SIGUSR1 writes a heap snapshot. */
function answerSignals(signals: ServerSignals, { log, heapPath }: { log: Log; heapPath: string }): Asked {
  const toStop = Promise.withResolvers<void>();
  const again = Promise.withResolvers<void>();
  const started = Promise.withResolvers<Typha>();
  let count = 0;
  signals.answer((signal: ServerSignal) => {
    if (signal === "SIGUSR1") return writeHeap(heapPath, log);
    if (!isEnding(signal)) {
      log.info("Looking at the TLS files, as asked", { signal });
      return void started.promise.then((typha) => typha.reload());
    }
    count += 1;
    if (count > 1) return again.resolve();
    log.warn("Shutting down gently: clients are handed over one by one; a second signal ends it at once", { signal });
    toStop.resolve();
  });
  return { toStop: toStop.promise, again: again.promise, started: started.resolve };
}

function writeHeap(heapPath: string, log: Log): void {
  if (heapPath === "") return;
  const stamp = localTime(systemClock.wallMs()).slice(0, 19).replace(" ", "-");
  const path = heapPath.replace("<timestamp>", stamp);
  try {
    log.info("Heap snapshot written", { path: writeHeapSnapshot(path) });
  } catch (error) {
    // The original ends here; who looks into a server wants it to go on.
    log.error("Heap snapshot not written", { path, problem: messageOf(error) });
  }
}
