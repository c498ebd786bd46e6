// ctl node status: whether Calico runs on this host, and its BGP peers, as BIRD's control sockets tell them.
//
//   BIRD 1.6: a daemon and a socket for each family (bird.ctl, bird6.ctl)      BIRD 2: one for both (bird.ctl)
import { existsSync } from "node:fs";
import { CattailError } from "../../../base/lib/index.ts";
import { askBird, type Peer, peersOf, readProtocols } from "../../../node/bird/index.ts";
import { boxTable } from "../box-table.ts";
import type { Run } from "../command.ts";
import { type Console, CtlError } from "../console.ts";
import { goWords } from "../file-error.ts";
import { isNodeRunning, runningPrograms } from "./running.ts";

export const run: Run = async (_invocation, console) => {
  const programs = await runningPrograms();
  if (!(await isNodeRunning(programs, console.env))) throw new CtlError("Calico process is not running.");
  console.out("Calico process is running.\n");
  const four = await lookAt("bird", programs, console.signal);
  const six = await lookAt("bird6", programs, console.signal);
  if (four.is === "absent" && six.is === "absent") {
    console.out("\nThe BGP backend process (BIRD) is not running.\n\n");
    return 0;
  }
  print(4, four, console);
  // A BIRD 2 speaks for both families.
  print(6, six.is === "absent" && four.is === "peers" && four.generation === 2 ? four : six, console);
  console.out("\n");
  return 0;
};

type Daemon = "bird" | "bird6";

type Looked =
  | { readonly is: "absent" }
  | { readonly is: "unreachable"; readonly says: string }
  | { readonly is: "failed"; readonly says: string }
  | { readonly is: "peers"; readonly generation: 1 | 2; readonly peers: readonly Peer[] };

/** Where Calico's own BIRD listens, and where a distribution's does. */
const folders = ["/var/run/calico", "/var/run/bird"];

async function lookAt(daemon: Daemon, programs: ReadonlySet<string>, signal: AbortSignal): Promise<Looked> {
  const paths = folders.map((folder) => `${folder}/${daemon}.ctl`);
  if (!programs.has(daemon) && !paths.some((path) => existsSync(path))) return { is: "absent" };
  let unreachable: Looked = { is: "absent" };
  for (const path of paths) {
    try {
      const read = readProtocols(await askBird(path, "show protocols", { signal }));
      if (read === undefined) return { is: "failed", says: "unknown BIRD table output format" };
      return { is: "peers", generation: read.generation, peers: peersOf(read) };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CattailError)) throw error;
      if (error.code !== "BIRD_UNREACHABLE") return { is: "failed", says: error.problem };
      unreachable = { is: "unreachable", says: `dial unix ${path}: connect: ${goWords(error.cause)}` };
    }
  }
  return unreachable;
}

const columns = ["PEER ADDRESS", "PEER TYPE", "STATE", "SINCE", "INFO"].map((heading) => ({ heading }));

function print(family: 4 | 6, looked: Looked, console: Console): void {
  const daemon = family === 4 ? "bird" : "bird6";
  if (looked.is === "absent") {
    console.out(`\nINFO: BIRDv${family} process: '${daemon}' is not running.\n`);
    return;
  }
  console.out(`\nIPv${family} BGP status\n`);
  switch (looked.is) {
    case "unreachable": // without a new line, and no failure: as the original has it
      console.out(`Error querying BIRD: unable to connect to BIRDv${family} socket: ${looked.says}`);
      return;
    case "failed":
      throw new CtlError(`error executing command: ${looked.says}`);
    case "peers": {
      const peers = looked.peers.filter((peer) => peer.family === family);
      const rows = peers.map(({ address, type, state, since, info }) => [address, type, state, since, info]);
      console.out(rows.length === 0 ? `No IPv${family} peers found.\n` : boxTable(columns, rows));
    }
  }
}
