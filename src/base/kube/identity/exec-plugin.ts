// A program that a kubeconfig names to get credentials from, as client.authentication.k8s.io has it: it is told in
// KUBERNETES_EXEC_INFO what for, and prints an ExecCredential. Bounded in time and output; what it printed is asked for
// again when it expires or is refused.
import { CattailError, isRecord, writeJson } from "../../lib/index.ts";
import type { ExecPlugin } from "./kubeconfig.ts";

export type ExecCredential = {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Of the wall clock. Absent: good until it is refused. */
  readonly expiresAtMs?: number;
};

/** What a plugin that asks for it is told of the cluster. */
export type ExecCluster = { readonly [field: string]: unknown };

const versions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];
const limits = { outputBytes: 1 << 20, patienceMs: 60_000, interactivePatienceMs: 300_000, shownBytes: 2000 };

export type ExecOptions = { readonly cluster: ExecCluster; readonly patienceMs?: number };

export async function runExecPlugin(plugin: ExecPlugin, options: ExecOptions): Promise<ExecCredential> {
  if (!versions.includes(plugin.apiVersion)) {
    const said = plugin.apiVersion === "" ? "says no apiVersion" : `has apiVersion "${plugin.apiVersion.slice(0, 80)}"`;
    throw failed(plugin, said, `Write one of ${versions.join(", ")}; update the plugin if it knows neither`);
  }
  const isInteractive = plugin.interactiveMode !== "Never" && process.stdin.isTTY === true;
  if (plugin.interactiveMode === "Always" && !isInteractive)
    throw failed(plugin, "must ask you something, and there is no terminal", "Run it in a terminal, or log in first");
  return readCredential(plugin, await outputOf(plugin, options, isInteractive));
}

async function outputOf(plugin: ExecPlugin, options: ExecOptions, isInteractive: boolean): Promise<string> {
  // Loaded late: few kubeconfigs have a plugin.
  const { spawn } = await import("node:child_process");
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const { patienceMs = isInteractive ? limits.interactivePatienceMs : limits.patienceMs } = options;
  const child = spawn(plugin.command, plugin.args, {
    env: { ...process.env, ...plugin.env, KUBERNETES_EXEC_INFO: execInfo(plugin, options, isInteractive) },
    stdio: isInteractive ? ["inherit", "pipe", "inherit"] : ["ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  const give = (problem: string, next: string) => {
    child.kill("SIGKILL");
    reject(failed(plugin, problem, next));
  };
  const timer = setTimeout(
    () => give(`gave no answer within ${patienceMs / 1000} s`, "Run it by hand to see what it waits for"),
    patienceMs,
  );
  const output: Buffer[] = [];
  const complaints: Buffer[] = [];
  let bytes = 0;
  child.stdout?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > limits.outputBytes) give(`printed more than ${limits.outputBytes} bytes`, "Is it the right program?");
    else output.push(chunk);
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    if (Buffer.concat(complaints).length < limits.shownBytes) complaints.push(chunk);
  });
  child.on("error", (error: NodeJS.ErrnoException) => {
    const hint = plugin.installHint === undefined ? "Install it, or correct the path" : plugin.installHint;
    const isMissing = error.code === "ENOENT";
    give(isMissing ? "is not there" : `cannot be started: ${error.message}`, isMissing ? hint : "Check its rights");
  });
  child.on("close", (code, signal) => {
    if (code === 0) return resolve(Buffer.concat(output).toString("utf8"));
    const said = Buffer.concat(complaints).toString("utf8").slice(0, limits.shownBytes).trim();
    const how = signal === null ? `failed with exit code ${code}` : `was ended by ${signal}`;
    reject(failed(plugin, said === "" ? how : `${how}: ${said}`, "Run it by hand to see why"));
  });
  return promise.finally(() => clearTimeout(timer));
}

function execInfo(plugin: ExecPlugin, { cluster }: ExecOptions, interactive: boolean): string {
  const spec = { interactive, ...(plugin.provideClusterInfo ? { cluster } : {}) };
  return writeJson({ kind: "ExecCredential", apiVersion: plugin.apiVersion, spec });
}

function readCredential(plugin: ExecPlugin, output: string): ExecCredential {
  const wanted = 'It must print {"apiVersion", "kind": "ExecCredential", "status": {"token" or certificate and key}}';
  const wrong = (what: string) => failed(plugin, `printed ${what}`, wanted);
  const credential = parse(output);
  if (!isRecord(credential)) throw wrong("no JSON object");
  const { kind = "ExecCredential", apiVersion = plugin.apiVersion, status } = credential;
  if (kind !== "ExecCredential") throw wrong(`kind ${JSON.stringify(kind)?.slice(0, 60)}`);
  if (apiVersion !== plugin.apiVersion)
    throw wrong(`apiVersion ${JSON.stringify(apiVersion)?.slice(0, 60)}, not ${plugin.apiVersion}`);
  if (!isRecord(status)) throw wrong("no status");
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  if (!isText(token) || !isText(cert) || !isText(key)) throw wrong("credentials that are not text");
  if ((cert === undefined) !== (key === undefined)) throw wrong("a certificate or a key without the other");
  if (!token && !cert) throw wrong("neither a token nor a certificate");
  const expiresAtMs = typeof expirationTimestamp === "string" ? Date.parse(expirationTimestamp) : undefined;
  if (Number.isNaN(expiresAtMs)) throw wrong("an expirationTimestamp that is no time");
  return {
    ...(token ? { token } : {}),
    ...(cert && key ? { cert, key } : {}),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not quoted in the error: it may hold half a secret
  }
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

function failed({ where, command }: ExecPlugin, problem: string, next: string): CattailError {
  return new CattailError("KUBECONFIG_EXEC_FAILED", { problem: `${where}: ${command} ${problem}`, next });
}
