// ctl node diags: this node's network state and Calico's logs in one archive. It only looks: nothing is signalled or changed, and no file with
// credentials is read (kubeconfigs, tokens, keys).
import { mkdtemp, readdir, readFile, realpath, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { CattailError, messageOf } from "../../../base/lib/index.ts";
import { runProgram } from "../../../base/linux/index.ts";
import { askBird } from "../../../node/bird/index.ts";
import { Bundle, stamp } from "../archive/bundle.ts";
import type { Run } from "../command.ts";
import type { Console } from "../console.ts";
import { goWords } from "../file-error.ts";

/** What is said while it runs, the program, and the file that it fills. */
export type Command = { readonly says: string; readonly words: readonly string[]; readonly file: string };

export const commands: readonly Command[] = [
  { says: "", words: ["date"], file: "date" },
  { says: "", words: ["hostname"], file: "hostname" },
  { says: "", words: ["uname", "-a"], file: "uname" },
  { says: "Dumping routes (IPv4)", words: ["ip", "-4", "route", "show", "table", "all"], file: "ipv4_route" },
  { says: "Dumping routes (IPv6)", words: ["ip", "-6", "route", "show", "table", "all"], file: "ipv6_route" },
  { says: "Dumping rules", words: ["ip", "rule"], file: "ip_rule" },
  { says: "Dumping interface info (IPv4)", words: ["ip", "-4", "addr"], file: "ipv4_addr" },
  { says: "Dumping interface info (IPv6)", words: ["ip", "-6", "addr"], file: "ipv6_addr" },
  { says: "Dumping links", words: ["ip", "-d", "link"], file: "ip_link" },
  { says: "Dumping neighbours", words: ["ip", "neigh"], file: "ip_neigh" },
  { says: "Dumping nftables", words: ["nft", "-n", "-a", "list", "ruleset"], file: "nft_ruleset" },
  { says: "Dumping iptables (IPv4)", words: ["iptables-save", "-c"], file: "ipv4_tables" },
  { says: "Dumping iptables (IPv6)", words: ["ip6tables-save", "-c"], file: "ipv6_tables" },
  { says: "Dumping ipsets", words: ["ipset", "list"], file: "ipsets" },
  { says: "Dumping sockets", words: ["ss", "-a", "-n"], file: "ss" },
  {
    says: "Copying journal for calico-node.service",
    words: ["journalctl", "-u", "calico-node.service", "--no-pager"],
    file: "journalctl_calico_node",
  },
];

const birdSockets = ["/var/run/calico/bird.ctl", "/var/run/calico/bird6.ctl", "/var/run/bird/bird.ctl"];
const mostOutputBytes = 256 << 20;
/** Of one log; the end of a longer one is what matters. */
export const mostLogBytes = 64 << 20;
const mostLogFiles = 1000;

export const run: Run = async (invocation, console) => {
  const { out, signal } = console;
  out("Collecting diagnostics\n");
  const folder = await mkdtemp(join(tmpdir(), "calico"));
  out(`Using temp dir: ${folder}\n`);
  const path = join(folder, `diags-${stamp(Date.now())}.tar.gz`);
  const bundle = new Bundle({ path, root: "diagnostics", nowMs: () => Date.now() });
  try {
    for (const command of commands) await addCommand(bundle, command, console);
    for (const socket of birdSockets) await addBird(bundle, socket, signal);
    await addLogs(bundle, invocation.value("log-dir") ?? "", console);
    await addContainerLogs(bundle, console);
    await bundle.close();
  } catch (error) {
    await bundle.discard();
    throw error;
  }
  out(`\nDiags saved to ${path}\n`);
  out("If required, you can upload the diagnostics bundle to a file sharing service.\n");
  return 0;
};

async function addCommand(bundle: Bundle, { says, words, file }: Command, console: Console): Promise<void> {
  const { out, signal } = console;
  if (says !== "") out(`${says}\n`);
  const text = await outputOf(words, console, signal);
  if (text !== undefined) await bundle.add(file, text);
}

/** Undefined: it failed, which is said; the rest is collected nevertheless. */
async function outputOf(words: readonly string[], { out }: Console, signal: AbortSignal): Promise<string | undefined> {
  const [program = "", ...args] = words;
  try {
    const { stdout, stderr } = await runProgram(program, args, { signal, maxOutputBytes: mostOutputBytes });
    return stdout + stderr;
  } catch (error) {
    signal.throwIfAborted();
    out(`Failed to run command: ${words.join(" ")}\nError: ${whyOf(error)}\n`);
    return undefined;
  }
}

function whyOf(error: unknown): string {
  return (error instanceof CattailError ? error.problem : messageOf(error)).trimEnd();
}

async function addBird(bundle: Bundle, socket: string, signal: AbortSignal): Promise<void> {
  for (const command of ["show status", "show protocols all", "show route all"]) {
    try {
      const lines = await askBird(socket, command, { signal });
      const file = `${command.replaceAll(" ", "_")}_${relative("/var/run", socket).replaceAll("/", "_")}`;
      await bundle.add(`bird/${file}`, lines.map(({ text }) => `${text}\n`).join(""));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CattailError)) throw error;
      if (error.code === "BIRD_UNREACHABLE") return; // most nodes have one socket, or none
    }
  }
}

async function addLogs(bundle: Bundle, folder: string, { out, signal }: Console): Promise<void> {
  try {
    const root = await realpath(folder);
    if (!(await stat(root)).isDirectory()) {
      out(`No logs found in ${folder}; skipping log copying\n`);
      return;
    }
    out("Copying Calico logs\n");
    const files = await readdir(root, { recursive: true, withFileTypes: true });
    for (const file of files.filter((each) => each.isFile()).slice(0, mostLogFiles)) {
      signal.throwIfAborted();
      const path = join(file.parentPath, file.name);
      await bundle.add(`logs/${relative(root, path)}`, await lastBytes(path));
    }
  } catch (error) {
    signal.throwIfAborted();
    out(`Error copying log files: stat ${folder}: ${goWords(error)}\n`);
  }
}

async function lastBytes(path: string): Promise<Uint8Array> {
  const bytes = await readFile(path);
  return bytes.length <= mostLogBytes ? bytes : bytes.subarray(bytes.length - mostLogBytes);
}

type Runtime = { readonly program: string; readonly list: readonly string[] };

const runtimes: readonly Runtime[] = [
  { program: "docker", list: ["ps", "-a", "--filter", "name=calico", "--format", "{{.Names}}"] },
  { program: "nerdctl", list: ["ps", "-a", "--filter", "name=calico", "--format", "{{.Names}}"] },
  { program: "crictl", list: ["ps", "-a", "--name", "calico", "-q"] },
];

/** Of the first runtime that is here. */
async function addContainerLogs(bundle: Bundle, console: Console): Promise<void> {
  const { out, signal } = console;
  for (const { program, list } of runtimes) {
    let names: string;
    try {
      names = (await runProgram(program, list, { signal })).stdout;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CattailError && error.code === "PROGRAM_NOT_FOUND") continue;
      out(`Could not run ${program} command: ${whyOf(error)}\n`);
      return;
    }
    const found = names.split("\n").filter((name) => name !== "" && !name.includes("k8s_POD"));
    if (found.length > 0) out(`Copying logs from Calico containers (${program})\n`);
    for (const name of found) {
      const text = await outputOf([program, "logs", name], console, signal);
      if (text !== undefined) await bundle.add(`logs/containers/${name}.log`, text);
    }
    return;
  }
  const tried = runtimes.map(({ program }) => program).join(", ");
  out(`Could not collect container logs: no container runtime found (tried ${tried})\n`);
}
