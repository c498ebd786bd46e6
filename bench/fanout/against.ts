// Any Typha, ours or another, as its operator would run it: a command started with TYPHA_* settings on an etcd of its own,
// fed by writing to that etcd. The keys are global network sets, whose labels carry the time of sending.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type EtcdMember, startEtcd } from "../../test/kit/etcd.ts";
import { freePort } from "../../test/kit/free-port.ts";
import { useOf } from "./process-use.ts";
import type { Kv, ServerName, Subject, TlsFlags } from "./subjects.ts";

const prefix = "/calico/resources/v3/projectcalico.org/globalnetworksets/";

export async function startOnEtcd(options: { name: ServerName; command: string; tls: TlsFlags }): Promise<Subject> {
  const etcd = await startEtcd();
  const [member] = etcd.members;
  if (member === undefined) throw new Error("etcd started no member");
  const port = await freePort();
  const [program = "", ...flags] = options.command.split(/\s+/);
  const child = spawn(program, flags, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...settings({ port, etcdUrl: member.url, tls: options.tls }) },
  });
  child.on("error", (error) => console.error(`cannot start ${options.command}: ${error.message}`));
  const end = () => void child.kill("SIGTERM"); // a profile is written at a proper end only
  process.once("exit", end); // of a bench that failed, too
  const { pid } = child;
  if (pid === undefined) throw new Error(`${options.command} did not start`);
  await untilListening(port, () => child.exitCode);
  return {
    name: options.name,
    port,
    pid,
    apply: (kvs) => put(member, kvs),
    setInSync: () => sleep(1000), // it knows by itself
    use: () => useOf(serverPid(pid)),
    async [Symbol.asyncDispose]() {
      const exited = child.exitCode === null && child.signalCode === null ? once(child, "exit") : Promise.resolve();
      process.off("exit", end);
      end();
      const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
      await exited;
      clearTimeout(timer);
      await etcd[Symbol.asyncDispose]();
    },
  };
}

function settings(how: { port: number; etcdUrl: string; tls: TlsFlags }): { [name: string]: string } {
  const tls =
    how.tls === undefined
      ? {}
      : {
          TYPHA_CAFILE: how.tls.ca,
          TYPHA_SERVERCERTFILE: how.tls.cert,
          TYPHA_SERVERKEYFILE: how.tls.key,
          TYPHA_CLIENTCN: "calico-node",
        };
  return {
    TYPHA_DATASTORETYPE: "etcdv3",
    TYPHA_ETCDENDPOINTS: how.etcdUrl,
    TYPHA_SERVERPORT: `${how.port}`,
    TYPHA_HEALTHENABLED: "false",
    TYPHA_PROMETHEUSMETRICSENABLED: "false",
    TYPHA_CONNECTIONREBALANCINGMODE: "none",
    TYPHA_LOGSEVERITYSCREEN: "error",
    TYPHA_LOGSEVERITYSYS: "none",
    TYPHA_LOGFILEPATH: "none",
    ...tls,
  };
}

async function put(member: EtcdMember, kvs: readonly Kv[]): Promise<void> {
  await Promise.all(
    kvs.map(async ({ key, value }) => {
      const name = /pod-\d+/.exec(key)?.[0] ?? "pod";
      const sentNanos = /"sentNanos":(\d+)/.exec(value ?? "")?.[1] ?? "0";
      // In the order of their names, as calicoctl and every other Go program writes a map.
      const labels = Object.fromEntries(
        [...(value ?? "").matchAll(/"(label-\d+)":"(value-\d+)"/g)].map(([, label, text]) => [label, text]).sort(),
      );
      const object = {
        kind: "GlobalNetworkSet",
        apiVersion: "projectcalico.org/v3",
        metadata: {
          name,
          uid: "00000000-0000-4000-8000-000000000000",
          creationTimestamp: "2026-01-01T00:00:00Z",
          labels: { ...labels, sentNanos },
        },
        spec: { nets: ["10.0.0.0/24"] },
      };
      const { error } = await member.ask({ do: "put", key: `${prefix}${name}`, value: JSON.stringify(object) });
      if (error !== undefined) throw new Error(`etcd: ${error}`);
    }),
  );
}

async function untilListening(port: number, exitCode: () => number | null): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (exitCode() !== null) throw new Error(`the server ended with status ${exitCode()} before it listened`);
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.on("connect", () => resolve(true));
      socket.on("error", () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await sleep(100);
  }
  throw new Error(`nothing listens on port ${port} after a minute`);
}

// A launcher may have started the server as its child; what counts is the process that holds the port.
function serverPid(pid: number): number {
  const children = readChildren(pid);
  return children[0] === undefined ? pid : serverPid(children[0]);
}

function readChildren(pid: number): number[] {
  return process.platform === "linux"
    ? readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number)
    : [];
}
