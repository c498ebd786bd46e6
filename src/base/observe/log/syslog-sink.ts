// The local syslog. Its socket mostly takes datagrams, which Node cannot send on a local socket; then the system's own
// `logger` program carries the lines. A syslog that was restarted is connected to again, as by Go's client.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createConnection } from "node:net";
import type { Writable } from "node:stream";
import type { LogSink } from "./log-queue.ts";
import { streamSink } from "./log-sinks.ts";

export type SyslogEntry = { readonly severity: number; readonly atMs: number; readonly text: string };

/** The text to write for an entry depends on who carries it. */
export type SyslogSink = LogSink & { frame(entry: SyslogEntry): string };

export type SyslogOptions = { readonly tag: string; readonly pid: number; readonly paths?: readonly string[] };

type Connection = { readonly writable: Writable; close(): Promise<void> };

const usualPaths = ["/dev/log", "/var/run/syslog", "/var/run/log"];
const facilityUser = 8;
/** As `logger` would cut lines at 1 KiB, which a long message with its fields exceeds. */
const mostLineBytes = 8192;
/** For `logger` to pass on what it was given, when it is to end. */
const goodbyeMs = 2000;

/** Rejects when there is no syslog, or nobody to carry lines to it. */
export async function syslogSink(options: SyslogOptions): Promise<SyslogSink> {
  const failures: string[] = [];
  for (const path of options.paths ?? usualPaths) {
    try {
      return { ...(await reopening(() => openSocket(path))), frame: (entry) => fullFrame(entry, options) };
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? String(error);
      // The socket takes datagrams.
      if (code === "EPROTOTYPE") return { ...(await reopening(() => openLogger(path, options))), frame: shortFrame };
      failures.push(`${path}: ${code}`);
    }
  }
  throw new Error(`no local syslog (${failures.join(", ")})`);
}

/** `<14>Jan  2 03:04:05 program[1234]: text`, as Go's log/syslog writes to a local socket. */
function fullFrame({ severity, atMs, text }: SyslogEntry, { tag, pid }: SyslogOptions): string {
  const at = new Date(atMs);
  const month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][at.getMonth()];
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
  return `<${facilityUser + severity}>${month} ${String(at.getDate()).padStart(2)} ${time} ${tag}[${pid}]: ${text}\n`;
}

/** `logger` adds the time and the tag itself. */
function shortFrame({ severity, text }: SyslogEntry): string {
  return `<${facilityUser + severity}>${text}\n`;
}

async function openSocket(path: string): Promise<Connection> {
  const socket = createConnection(path);
  await once(socket, "connect");
  return { writable: socket, close: async () => void socket.destroy() };
}

async function openLogger(path: string, { tag, pid }: SyslogOptions): Promise<Connection> {
  const parameters = ["--socket", path, "--prio-prefix", "--tag", `${tag}[${pid}]`, "--size", `${mostLineBytes}`];
  const child = spawn("logger", parameters, { stdio: ["pipe", "ignore", "ignore"] });
  await once(child, "spawn");
  return {
    writable: child.stdin,
    async close() {
      child.stdin.end();
      if (child.exitCode === null && child.signalCode === null)
        await once(child, "exit", { signal: AbortSignal.timeout(goodbyeMs) }).catch(() => child.kill());
    },
  };
}

async function reopening(open: () => Promise<Connection>): Promise<LogSink> {
  const connect = async (): Promise<LogSink> => {
    const { writable, close } = await open();
    return { ...streamSink(writable), close };
  };
  let current = await connect();
  return {
    async write(text) {
      try {
        await current.write(text);
      } catch {
        await current.close();
        current = await connect();
        await current.write(text);
      }
    },
    close: () => current.close(),
  };
}
