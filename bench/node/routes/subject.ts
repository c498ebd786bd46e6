// Who is measured: a program that does what Felix does, its processes' CPU and memory.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export type Subject = {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  cpuSeconds(): number;
  residentMb(): number;
  /** The last it said, for a failure. */
  words(): string;
};

export function agentOf(
  name: string,
  command: readonly string[],
  etcd: string,
  besides: { readonly [name: string]: string } = {},
): Subject {
  const folder = mkdtempSync(join(tmpdir(), "cattail-bench-node-"));
  const log = join(folder, "log");
  let child: ChildProcess | undefined;
  const stat = (): string[] => readFileSync(`/proc/${child?.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return {
    name,
    async start() {
      const fd = openSync(log, "w");
      const [program = "", ...args] = command;
      child = spawn(program, args, {
        stdio: ["ignore", fd, fd],
        env: {
          PATH: process.env.PATH ?? "",
          HOME: folder,
          ...{
            FELIX_DATASTORETYPE: "etcdv3",
            DATASTORE_TYPE: "etcdv3",
            FELIX_FELIXHOSTNAME: "node-1",
            NODENAME: "node-1",
          },
          ...{ FELIX_ETCDENDPOINTS: etcd, ETCD_ENDPOINTS: etcd, FELIX_NFTABLESMODE: "Enabled" },
          ...{ FELIX_LOGFILEPATH: "none", FELIX_LOGSEVERITYFILE: "none", FELIX_LOGSEVERITYSYS: "none" },
          ...{ FELIX_LOGSEVERITYSCREEN: "Warning", FELIX_USAGEREPORTINGENABLED: "false", FELIX_HEALTHENABLED: "false" },
          // The original would look for programs in the kernel that nobody has put there.
          FELIX_DebugSkipCTLBCleanup: "true",
          ...{ FELIX_IPV6SUPPORT: "false", CALICO_NETWORKING_BACKEND: "vxlan" },
          ...besides,
        },
      });
      closeSync(fd);
      const onExit = () => void child?.kill("SIGKILL");
      process.once("exit", onExit);
      await sleep(1);
    },
    async stop() {
      const ended = new Promise((resolve) => child?.once("exit", resolve));
      child?.kill("SIGTERM");
      // The original's confd does not end by itself while it has nothing to do.
      const killer = setTimeout(() => child?.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(killer);
    },
    // Fields 14 and 15, of which two stand before the name's end.
    cpuSeconds: () => (Number(stat()[11]) + Number(stat()[12])) / 100,
    residentMb: () => (Number(stat()[21]) * 4096) / 1e6,
    words: () => readFileSync(log, "utf8").slice(-2_000),
  };
}
