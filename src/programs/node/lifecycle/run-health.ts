// The work of `cattail node health`: reads its words, asks, prints one line where something is wrong, and ends with 0 or 1.
import { messageOf, systemClock } from "../../../base/lib/index.ts";
import {
  askHealth,
  type Checked,
  type CheckName,
  checkHealth,
  checkNames,
  goDurationMs,
  healthSentence,
  nothingAsked,
} from "../../../node/startup/health.ts";

export const healthUsage = `
Examples:
  cattail node health --felix-ready --bird-ready
  cattail node health --bird-ready --bird6-ready --strict -o json
  cattail node health --port 9098 --type liveness`;

type Asked = {
  readonly checks: readonly CheckName[];
  readonly values: ReadonlyMap<string, string>;
  readonly isStrict: boolean;
  readonly problem?: string;
};

const withValue = ["threshold-time", "grace", "output", "port", "host", "type", "timeout"];

/** As Go reads yes and no. */
const noes = ["0", "f", "F", "false", "False", "FALSE"];

/** As the original takes them: one dash or two, a value behind `=` or in the next word. */
export function readHealthWords(words: readonly string[]): Asked {
  const checks: CheckName[] = [];
  const values = new Map<string, string>();
  let isStrict = false;
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [, flag = "", , given] = /^--?([a-z0-9-]+)(=(.*))?$/s.exec(word) ?? [];
    const name = flag === "o" ? "output" : flag === "p" ? "port" : flag;
    const check = checkNames.find((known) => known === name);
    if (check !== undefined) {
      if (given === undefined || !noes.includes(given)) checks.push(check);
    } else if (name === "strict") isStrict = given === undefined || !noes.includes(given);
    else if (withValue.includes(name)) {
      const value = given ?? rest.shift();
      if (value === undefined) return { checks, values, isStrict, problem: `--${name} wants a value` };
      values.set(name, value);
    } else return { checks, values, isStrict, problem: `node health takes no ${JSON.stringify(word)}` };
  }
  return { checks, values, isStrict };
}

export async function runHealth(words: readonly string[]): Promise<void> {
  const asked = readHealthWords(words);
  const { line, exitCode } = await answer(asked).catch((error: unknown) => ({ line: messageOf(error), exitCode: 1 }));
  if (line === undefined) process.exit(exitCode);
  process.stdout.write(`${line}\n`, () => process.exit(exitCode));
}

type Answer = { readonly line: string | undefined; readonly exitCode: number };

async function answer(asked: Asked): Promise<Answer> {
  if (asked.problem !== undefined) throw new Error(`${asked.problem} (see cattail node health --help)`);
  const { values, checks } = asked;
  const { signal } = new AbortController();
  if (values.has("port")) return await oneComponent(values);
  if (checks.length === 0) throw new Error(nothingAsked);
  const graceMs = duration(values, "grace", "10s");
  const checked = await checkHealth(checks, {
    settings: healthSettings(process.env),
    thresholdMs: duration(values, "threshold-time", "30s"),
    ...(asked.isStrict ? { strict: { graceMs } } : {}),
    sockets: { 4: process.env.BIRD_CTL, 6: process.env.BIRD6_CTL },
    clock: systemClock,
    signal,
  });
  const line = healthSentence(checked);
  const isReady = line === undefined;
  return { line: values.get("output") === "json" ? report(checked, isReady) : line, exitCode: isReady ? 0 : 1 };
}

/** The few that matter here, by the names and defaults of the table (node/startup/settings; run-health.test.ts). */
export function healthSettings(environment: NodeJS.ProcessEnv) {
  const port = environment.FELIX_HEALTHPORT || "9099";
  if (!/^\d{1,5}$/.test(port)) throw new Error(`Failed to parse value for port ${JSON.stringify(port)}`);
  return {
    healthPort: Number(port),
    healthHost: environment.FELIX_HEALTHHOST || "localhost",
    nodeNameFile: environment.CALICO_NODENAME_FILE || "/var/lib/calico/nodename",
  };
}

async function oneComponent(values: ReadonlyMap<string, string>): Promise<Answer> {
  const port = Number(values.get("port"));
  const type = values.get("type") ?? "readiness";
  if (!Number.isInteger(port) || port < 1 || port > 65535) throw new Error("--port must be a port");
  if (type !== "readiness" && type !== "liveness") throw new Error("--type must be readiness or liveness");
  const server = { host: values.get("host") ?? "localhost", port };
  const limitMs = duration(values, "timeout", "5s");
  const signal = limitMs === 0 ? new AbortController().signal : AbortSignal.timeout(Math.max(1, limitMs)); // 0: none
  await askHealth(server, type, signal);
  return { line: undefined, exitCode: 0 };
}

function duration(values: ReadonlyMap<string, string>, name: string, usual: string): number {
  const text = values.get(name) ?? usual;
  const ms = goDurationMs(text);
  if (ms === undefined) throw new Error(`--${name} must be a duration such as ${usual}, not ${text}`);
  return ms;
}

function report(checked: readonly Checked[], ready: boolean): string {
  return JSON.stringify({ ready, checks: checked });
}
