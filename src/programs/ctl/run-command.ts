// Runs one command that was understood: with its one connection, after the comparison of versions where it wants that.
import type { CtlCommand, Invocation } from "./command.ts";
import { defaultConfigFile, globalFlags } from "./command-line/flags.ts";
import { type LogLevel, logTo } from "./command-line/log-level.ts";
import { type Given, isTrue } from "./command-line/parse-flags.ts";
import type { Connection } from "./connection.ts";
import { type Console, CtlError } from "./console.ts";

export type Understood = {
  readonly command: CtlCommand;
  readonly words: readonly string[];
  readonly given: Given;
  readonly logLevel: LogLevel;
};

/** `version` is this build's. */
export async function runCommand(asked: Understood, console: Console, version: () => string): Promise<number> {
  let opening: Promise<Connection> | undefined;
  const flags = readFlags(asked);
  const open = () => {
    opening ??= openFor(flags, asked.logLevel, console);
    return opening;
  };
  const connect = async () => {
    try {
      return await open();
    } catch (error) {
      throw connectFailure(asked.command, error);
    }
  };
  const invocation: Invocation = { command: asked.command, words: asked.words, ...flags, connect };
  try {
    // The code is loaded while the cluster is asked for its version.
    const loading = asked.command.load();
    loading.catch(() => undefined); // met below, unless the versions come first
    if (asked.command.checksVersion && !flags.isSet("allow-version-mismatch"))
      await compareVersions(invocation, { open, console, version });
    const run = await loading;
    return await run(invocation, console);
  } finally {
    // A connection that never came about has been said, or nobody needed it.
    const connection = await opening?.catch(() => undefined);
    await connection?.close();
  }
}

type Flags = Pick<Invocation, "isSet" | "value" | "values">;

function readFlags({ command, given }: Understood): Flags {
  const known = new Map([...globalFlags, ...command.flags].map((flag) => [flag.name, flag]));
  const values = (flag: string) => given.get(flag) ?? [];
  return {
    values,
    value: (flag) => values(flag).at(-1) ?? known.get(flag)?.default,
    isSet: (flag) => (known.get(flag)?.value === undefined ? isTrue(values(flag).at(-1)) : values(flag).length > 0),
  };
}

async function openFor({ value }: Flags, logLevel: LogLevel, console: Console): Promise<Connection> {
  const { openConnection } = await import("./connect/connect.ts");
  return await openConnection({
    file: value("config") ?? defaultConfigFile,
    context: value("context"),
    env: console.env,
    log: logTo(console, logLevel),
  });
}

type Comparing = {
  readonly open: () => Promise<Connection>;
  readonly console: Console;
  readonly version: () => string;
};

async function compareVersions(invocation: Invocation, { open, console, version }: Comparing): Promise<void> {
  let connection: Connection;
  try {
    connection = await open();
  } catch (error) {
    // A file that was named and is not there ends everything. What else is wrong with the configuration is said by the
    // command, after it has read its input: `apply -f missing.yaml` is about that file first.
    if (error instanceof CtlError) throw error;
    return;
  }
  const { checkVersion } = await import("./connect/check-version.ts");
  const { clientVersion } = await import("./connect/versions.ts");
  try {
    await checkVersion(connection.resources, clientVersion(version()), console.signal);
  } catch (error) {
    if (!(error instanceof CtlError)) throw error;
    throw new CtlError(`${beforeVersion(invocation)}${error.message}`, { cause: error.cause });
  }
}

/** The words that two commands have before whatever stops them. */
function beforeVersion({ command, words }: Invocation): string {
  const [name] = command.path;
  if (name === "get") return "failed to get resources: ";
  return name === "label" ? `failed to get ${words[0]} ${words[1]}, error ` : "";
}

/** Commands about objects say on standard output that they have no client; all others say what is wrong as it is. */
function connectFailure({ path }: CtlCommand, error: unknown): unknown {
  if (error instanceof CtlError || !(error instanceof Error) || error.name !== "ConfigProblem") return error;
  const isAboutObjects = path.length === 1 && path[0] !== "version";
  return isAboutObjects
    ? new CtlError(`Failed to create Calico API client: ${error.message}`, { stream: "stdout", cause: error })
    : new CtlError(error.message, { cause: error });
}
