// Real etcd members for tests: test/peers/etcd, built once. Each is a process that ends with its stdin, so a test that
// dies leaves none behind. Kill, restart, stop and continue them; tell them to write, list or compact behind our back.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePorts } from "./free-port.ts";
import { type GoPeer, goPeer } from "./go.ts";

export type EtcdAnswer = {
  ready?: boolean;
  error?: string;
  revision?: string;
  leader?: boolean;
  pairs?: { key: string; value: string; modRevision: string }[];
};

export type EtcdCommand =
  | { do: "put"; key: string; value: string }
  | { do: "delete" | "list"; key: string }
  | { do: "compact"; revision?: number }
  | { do: "auth"; user: string; password: string; prefix?: string }
  | { do: "leader" };

export type EtcdMember = {
  readonly name: string;
  readonly url: string;
  readonly port: number;
  ask(command: EtcdCommand): Promise<EtcdAnswer>;
  /** SIGKILL; the data stays. */
  kill(): Promise<void>;
  /** Starts again on the same port with the same data, or with none. */
  restart(options?: { wipe?: boolean }): Promise<void>;
  /** SIGSTOP and SIGCONT: there, but silent. */
  freeze(): void;
  thaw(): void;
};

export type EtcdCluster = AsyncDisposable & { readonly members: readonly EtcdMember[] };

export type EtcdClusterOptions = {
  members?: number;
  /** Serve TLS, and ask clients for a certificate of this CA. */
  tls?: { cert: string; key: string; ca?: string };
  flags?: readonly string[];
};

export function etcdPeer(): Promise<GoPeer> {
  return goPeer("test/peers/etcd");
}

/** The reason why there is no etcd to test with; undefined when there is one. */
export async function etcdMissing(): Promise<string | undefined> {
  return (await etcdPeer()).missing;
}

export async function startEtcd(options: EtcdClusterOptions = {}): Promise<EtcdCluster> {
  const peer = await etcdPeer();
  if (peer.path === undefined) throw new Error(`no etcd: ${peer.missing}`);
  const folder = mkdtempSync(join(tmpdir(), "cattail-etcd-"));
  const names = Array.from({ length: options.members ?? 1 }, (_, i) => `m${i}`);
  const ports = await freePorts(names.length * 2);
  const peers = names.map((name, i) => `${name}=http://127.0.0.1:${ports[names.length + i]}`).join(",");
  const tls = options.tls;
  const members = names.map((name, i) => {
    const url = `${tls === undefined ? "http" : "https"}://127.0.0.1:${ports[i]}`;
    const flags = ["-name", name, "-data", join(folder, name), "-client", url, "-cluster", peers];
    flags.push("-peer", `http://127.0.0.1:${ports[names.length + i]}`, ...(options.flags ?? []));
    if (tls !== undefined) flags.push("-cert", tls.cert, "-key", tls.key);
    if (tls?.ca !== undefined) flags.push("-ca", tls.ca);
    return { name, url, port: ports[i] ?? 0, process: new MemberProcess(peer.path, flags, join(folder, name)) };
  });
  await Promise.all(members.map(({ process }) => process.start()));
  return {
    members: members.map(({ name, url, port, process }) => ({
      name,
      url,
      port,
      ask: (command: EtcdCommand) => process.ask(command),
      kill: () => process.kill(),
      restart: (how: { wipe?: boolean } = {}) => process.restart(how),
      freeze: () => process.signal("SIGSTOP"),
      thaw: () => process.signal("SIGCONT"),
    })),
    async [Symbol.asyncDispose]() {
      await Promise.all(members.map(({ process }) => process.kill()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

class MemberProcess {
  readonly #path: string;
  readonly #flags: readonly string[];
  readonly #data: string;
  #child: ChildProcess | undefined;
  #answers: AsyncIterator<string> | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(path: string, flags: readonly string[], data: string) {
    this.#path = path;
    this.#flags = flags;
    this.#data = data;
  }

  async start(): Promise<void> {
    const child = spawn(this.#path, this.#flags, { stdio: ["pipe", "pipe", "pipe"] });
    this.#child = child;
    let complaint = "";
    child.stderr.on("data", (chunk: Buffer) => {
      complaint = (complaint + String(chunk)).slice(-2_000);
    });
    child.stdin.on("error", () => undefined); // a killed member does not read its last command
    this.#answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const first = await this.#answers.next();
    if (first.done === true) throw new Error(`etcd did not start: ${complaint}`);
  }

  ask(command: EtcdCommand): Promise<EtcdAnswer> {
    const answered = this.#turn.then(() => this.#askNow(command));
    this.#turn = answered.catch(() => undefined);
    return answered;
  }

  async #askNow(command: EtcdCommand): Promise<EtcdAnswer> {
    this.#child?.stdin?.write(`${JSON.stringify(command)}\n`);
    const line = await this.#answers?.next();
    if (line === undefined || line.done === true) throw new Error("the etcd member is gone");
    const answer = JSON.parse(line.value) as EtcdAnswer; // our own program's answer
    if (answer.error !== undefined) throw new Error(`etcd: ${answer.error}`);
    return answer;
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  async restart({ wipe = false }: { wipe?: boolean }): Promise<void> {
    await this.kill();
    if (wipe) rmSync(this.#data, { recursive: true, force: true });
    await this.start();
  }
}
