// Either plugin as a program of its own: what is asked comes from the process, and everything is opened for this one call.
import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { systemClock } from "../../base/lib/index.ts";
import { freshBacking, type Plugin, type PluginOptions, runPlugin } from "../../node/cni/index.ts";
import { version } from "../shared/build.ts";

/** What the thin start (bin/cni-plugin.cjs) has read already, and which files it is. It hands it over in a global, across whatever loads this. */
export type Started = { readonly stdin?: string | undefined; readonly files?: readonly string[] | undefined };

export function startedBefore(): Started {
  return (globalThis as { cattailCniStarted?: Started }).cattailCniStarted ?? {};
}

export function optionsOfProcess({ files = filesBeside(process.argv[1]) }: Started): PluginOptions {
  const edge = {
    clock: systemClock,
    random: Math.random,
    warn: (line: string) => void process.stderr.write(`${line}\n`),
  };
  const own = [...files, process.execPath];
  return {
    ...edge,
    variables: process.env,
    backing: freshBacking(edge),
    version: version(),
    isOwnFile: (other) => own.some((each) => isSameProgram(each, other)),
  };
}

/** Both starts of one installation are the same program. */
function filesBeside(file: string | undefined): readonly string[] {
  if (file === undefined) return [];
  try {
    return [file, join(dirname(realpathSync(file)), "cni-plugin.cjs")];
  } catch {
    return [file];
  }
}

export function stdinOf({ stdin }: Started): Promise<string> {
  return stdin === undefined ? text(process.stdin) : Promise.resolve(stdin);
}

export async function runAsProgram(create: (options: PluginOptions) => Plugin, started: Started): Promise<void> {
  const plugin = create(optionsOfProcess(started));
  const { exitCode, stdout, stderr } = await runPlugin(plugin, process.env, () => stdinOf(started));
  process.stderr.write(stderr);
  say(stdout, exitCode);
}

/** Whatever is still open is of no use to anybody. */
export function say(stdout: string, exitCode: number): void {
  process.stdout.write(stdout, () => process.exit(exitCode));
}

/** To a person; runtimes read standard output. */
export function tell(text: string, exitCode: number): void {
  process.stderr.write(text, () => process.exit(exitCode));
}

const largestCopy = 1 << 20;

/** Through links of both sorts; a small file may also be copied. bin/cni-plugin.cjs asks the same. */
function isSameProgram(a: string, b: string): boolean {
  try {
    if (realpathSync(a) === realpathSync(b)) return true;
    const [one, other] = [statSync(a, { bigint: true }), statSync(b, { bigint: true })];
    if (one.ino === other.ino && one.dev === other.dev) return true;
    if (one.size !== other.size || one.size > largestCopy) return false;
    return readFileSync(a).equals(readFileSync(b));
  } catch {
    return false; // what cannot be read is not ours
  }
}
