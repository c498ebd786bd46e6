// Opens many TCP connections from a process of its own, because the limit on open files is per process, and says what became
// of them. Run as a program: node raw-sockets.ts PORT COUNT HEX-OF-FIRST-BYTES; reports on standard output.
import { type ChildProcess, spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";

export type RawReport = { readonly opened: number; readonly closed: number };

export class RawSockets implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #report: RawReport = { opened: 0, closed: 0 };

  constructor(port: number, options: { count: number; firstBytes?: string }) {
    const program = [import.meta.filename, `${port}`, `${options.count}`, options.firstBytes ?? ""];
    this.#child = spawn(process.execPath, program, { stdio: ["pipe", "pipe", "inherit"] });
    this.#exited = new Promise((resolve) => this.#child.on("exit", resolve));
    if (this.#child.stdout !== null) {
      createInterface(this.#child.stdout).on("line", (line) => {
        this.#report = JSON.parse(line) as RawReport; // printed below
      });
    }
  }

  get report(): RawReport {
    return this.#report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }
}

function open(): void {
  const [port = "0", count = "0", firstBytes = ""] = process.argv.slice(2);
  const report = { opened: 0, closed: 0 };
  const sockets = new Set<Socket>();
  let started = 0;
  const next = (): void => {
    if (started >= Number(count)) return;
    started += 1;
    const socket = connect(Number(port), "127.0.0.1");
    sockets.add(socket);
    socket.on("connect", () => {
      report.opened += 1;
      if (firstBytes !== "") socket.write(Buffer.from(firstBytes, "hex"));
      next();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      report.closed += 1;
      sockets.delete(socket);
      next();
    });
    socket.resume();
  };
  // A few hundred at a time: more than the listener's queue would only be retried by the kernel a second later.
  for (let parallel = 0; parallel < 200; parallel += 1) next();
  setInterval(() => console.log(JSON.stringify(report)), 50);
  process.stdin.on("end", () => process.exit(0)).resume();
}

if (import.meta.main) open();
