// Who is measured: a program that writes BIRD's configuration, and a BIRD in a namespace that reads it.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { askBird } from "../../../src/node/bird/index.ts";

export type Subject = {
  readonly name: string;
  /** Milliseconds from its start to all sessions being written. */
  start(): Promise<number>;
  /** When BIRD has a session of this name: performance.now(). */
  session(name: string): Promise<number>;
  memory(): { readonly residentMb: number; readonly cpuSeconds: number };
  stop(): Promise<void>;
};

export type Edge = { readonly folder: string; readonly kubeconfig: string; readonly sessions: number };

type Made = {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: { readonly [name: string]: string };
  /** Where bird.cfg appears. */
  readonly folder: string;
  readonly bird: string;
  readonly sessions: number;
};

export function ourSubject(program: string, { folder, kubeconfig, sessions }: Edge): Subject {
  const own = join(folder, "cattail");
  const env = {
    NODENAME: "node-1",
    KUBECONFIG: kubeconfig,
    DATASTORE_TYPE: "kubernetes",
    BIRD_CONFIG_DIR: own,
    BIRD_CTL: join(own, "bird.ctl"),
    BIRD6_CTL: join(own, "bird6.ctl"),
    CALICO_ENDPOINT_STATUS_PATH_PREFIX: own,
  };
  return makeSubject({ name: "cattail", command: [program, "node", "bgp"], env, folder: own, bird: "bird", sessions });
}

/** Its templates name fixed places: they are copied, with ours in them. */
export function originalSubject(
  program: string,
  { folder, kubeconfig, sessions, confd, bird16 }: Edge & { confd: string; bird16: string },
): Subject {
  const own = join(folder, "original");
  const etc = join(folder, "original-etc");
  const bin = join(folder, "original-bin");
  for (const each of [own, etc, bin]) mkdirSync(each, { recursive: true });
  cpSync(join(confd, "templates"), join(etc, "templates"), { recursive: true, dereference: true });
  // Read there and written here, never copied as they are: a link would lead back to the original's own files.
  mkdirSync(join(etc, "conf.d"));
  for (const name of readdirSync(join(confd, "conf.d"))) {
    const text = readFileSync(join(confd, "conf.d", name), "utf8");
    writeFileSync(join(etc, "conf.d", name), text.replaceAll("/etc/calico/confd/config", own));
  }
  const script = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  // As calico/node's runit tells BIRD; over the socket and not by SIGHUP, of which several in a row are one.
  script("sv", `exec ${join(bird16, "birdc")} -s ${own}/bird.ctl configure`);
  for (const name of ["bird", "bird6"]) script(name, `exec ${join(bird16, name)} "$@"`);
  const env = {
    NODENAME: "node-1",
    KUBECONFIG: kubeconfig,
    DATASTORE_TYPE: "kubernetes",
    CALICO_ENDPOINT_STATUS_PATH_PREFIX: own,
    PATH: `${bin}:${process.env.PATH}`,
  };
  const command = [program, "component", "confd", "--confdir", etc];
  return makeSubject({ name: "original", command, env, folder: own, bird: join(bird16, "bird"), sessions });
}

function makeSubject({ name, command: [program = "", ...parameters], env, folder, bird, sessions }: Made): Subject {
  const namespace = `cattail-bench-bird-${name}`;
  let writer: ChildProcess | undefined;
  let daemon: ChildProcess | undefined;
  const socket = join(folder, "bird.ctl");
  const end = async (child: ChildProcess | undefined, signal: NodeJS.Signals) => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  };
  const stop = async () => {
    await end(writer, "SIGTERM");
    await end(daemon, "SIGKILL");
    if (namespaces().includes(namespace)) execFileSync("ip", ["netns", "del", namespace]);
  };
  return {
    name,
    stop,
    async start() {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      const beginMs = performance.now();
      // Beside the folder, which is made anew for each start.
      const log = openSync(`${folder}.log`, "w");
      writer = spawn(program, parameters, { env: { ...process.env, ...env }, stdio: ["ignore", log, log] });
      closeSync(log);
      await until(() => written(join(folder, "bird.cfg")) >= sessions, `${name} writes ${sessions} sessions`);
      const tookMs = performance.now() - beginMs;
      execFileSync("ip", ["netns", "add", namespace]);
      execFileSync("ip", ["-n", namespace, "link", "set", "lo", "up"]);
      execFileSync("ip", ["-n", namespace, "addr", "add", "172.31.0.1/16", "dev", "lo"]);
      const words = openSync(`${folder}.bird.log`, "w");
      const flags = ["-f", "-c", join(folder, "bird.cfg"), "-s", socket];
      daemon = spawn("ip", ["netns", "exec", namespace, bird, ...flags], { stdio: ["ignore", words, words] });
      closeSync(words);
      await until(() => existsSync(socket), `${name}'s BIRD runs`);
      await sleep(3_000);
      return tookMs;
    },
    async session(wanted) {
      for (const endMs = performance.now() + 20_000; performance.now() < endMs; ) {
        const lines = await askBird(socket, `show protocols "${wanted}"`).catch(() => []);
        if (lines.some(({ text }) => text.startsWith(wanted))) return performance.now();
        await sleep(2);
      }
      const last = (file: string) => readFileSync(file, "utf8").slice(-2000);
      const said = `${last(`${folder}.log`)}\nBIRD (exit code ${daemon?.exitCode}):\n${last(`${folder}.bird.log`)}`;
      throw new Error(`${name}: BIRD never had ${wanted}; the last words of the writer:\n${said}`);
    },
    memory() {
      const pid = writer?.pid ?? 0;
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      const [, , ...fields] = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
      return {
        residentMb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
        cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100,
      };
    },
  };
}

function namespaces(): readonly string[] {
  return execFileSync("ip", ["netns", "list"], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.split(" ")[0] ?? "");
}

function written(file: string): number {
  return existsSync(file) ? (readFileSync(file, "utf8").match(/^protocol bgp Mesh_/gm)?.length ?? 0) : 0;
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  for (const endMs = performance.now() + 120_000; performance.now() < endMs; await sleep(5)) if (isSo()) return;
  throw new Error(`waited in vain: ${what}`);
}
