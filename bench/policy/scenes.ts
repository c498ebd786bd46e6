// What is measured. Subjects take turns within a scene, so that what else the machine does meets all of them.
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../../test/kit/cluster.ts";
import { readFlow } from "../../test/kit/policy/flow.ts";
import type { PolicyLab } from "../../test/kit/policy/lab.ts";
import { probe } from "../../test/kit/policy/probe.ts";
import type { ApiObject } from "../../test/kit/policy-world.ts";
import { median } from "../median.ts";
import type { Agent } from "./agents.ts";
import { create, createPod, inParallel, patch, podObject, policyObject, remove } from "./objects.ts";

export type Figures = { readonly [name: string]: number };
export type Stage = {
  readonly agents: readonly Agent[];
  readonly cluster: Cluster;
  readonly lab: PolicyLab;
  readonly rounds: number;
};
type Scene = (stage: Stage) => Promise<readonly (readonly [string, Figures])[]>;

export const scenes: { readonly [name: string]: Scene } = { start, write, labels, set, throughput };

/** From a start to the first complete table: empty kernel, and with the table of the run before. */
async function start({ agents, cluster, rounds }: Stage) {
  const figures = new Map(agents.map((agent) => [agent.name, {} as { [name: string]: number }]));
  const measure = async (what: string) => {
    const times = new Map<string, { empty: number[]; again: number[]; rss: number[]; cpu: number[] }>();
    for (let round = 0; round < rounds; round += 1)
      for (const agent of agents) {
        const own = times.get(agent.name) ?? { empty: [], again: [], rss: [], cpu: [] };
        times.set(agent.name, own);
        agent.forget();
        own.empty.push(await agent.start());
        own.cpu.push(agent.cpuSeconds);
        own.rss.push(agent.rssMiB);
        await agent.stop();
        own.again.push(await agent.start());
        await agent.stop();
      }
    for (const [name, own] of times)
      Object.assign(figures.get(name) ?? {}, {
        [`${what}: empty kernel ms`]: median(own.empty),
        [`${what}: same table ms`]: median(own.again),
        [`${what}: CPU s`]: median(own.cpu),
        [`${what}: RSS MiB`]: median(own.rss),
      });
  };
  const pods: ApiObject[] = [];
  for (const count of [100, 500, 1_000]) {
    const more = Array.from({ length: count - pods.length }, (_, at) => {
      const number = pods.length + at;
      return podObject(`many-${number}`, `10.65.${2 + (number >> 7)}.${number & 127}`, {
        app: "many",
        n: String(number % 10),
      });
    });
    await inParallel(more, (pod) => createPod(cluster, pod));
    pods.push(...more);
    await measure(`${count} endpoints`);
  }
  await inParallel(pods, (pod) => remove(cluster, pod));
  const policies = manyPolicies(1_000, "app == 'tools'");
  await inParallel(policies, (policy) => create(cluster, policy));
  await measure("1000 policies");
  await inParallel(policies, (policy) => remove(cluster, policy));
  return [...figures];
}

/** Two rules and a set each. */
function manyPolicies(count: number, selector: string): readonly ApiObject[] {
  return Array.from({ length: count }, (_, number) =>
    policyObject(`many-${number}`, selector, [
      {
        action: "Allow",
        protocol: "TCP",
        source: { selector: `n == '${number}'` },
        destination: { ports: [8_000 + (number % 500)] },
      },
      { action: "Pass", protocol: "UDP", destination: { ports: [53] } },
    ]),
  );
}

/** A policy is written, and a new flow is denied; it is deleted, and a new flow passes. */
async function write({ agents, cluster, lab, rounds }: Stage) {
  const flow = readFlow("red/web > red/db udp:53");
  const until = async (wanted: "allow" | "deny") => {
    const startedMs = performance.now();
    for (;;) {
      const sentMs = performance.now();
      const options = { resolve: lab.resolve, servers: lab.servers, timeoutMs: 25, triesOnce: true };
      if ((await probe([flow], options)).get(flow.text) === wanted) return sentMs - startedMs;
      if (sentMs - startedMs > 60_000) throw new Error(`not ${wanted} within a minute`);
    }
  };
  const deny = policyObject("deny", "app == 'db'", [{ action: "Deny" }]);
  const found: (readonly [string, Figures])[] = [];
  for (const agent of agents) {
    agent.forget();
    await agent.start();
    const [denied, allowed]: [number[], number[]] = [[], []];
    for (let turn = 0; turn < rounds * 20; turn += 1) {
      await create(cluster, deny);
      denied.push(await until("deny"));
      await remove(cluster, deny);
      allowed.push(await until("allow"));
      await sleep(20);
    }
    found.push([
      agent.name,
      {
        "written to denied p50 ms": quantile(denied, 0.5),
        "p99 ms": quantile(denied, 0.99),
        "deleted to allowed p50 ms": quantile(allowed, 0.5),
        "allowed p99 ms": quantile(allowed, 0.99),
      },
    ]);
    await agent.stop();
  }
  return found;
}

/** A pod moves between ten sets, a thousand times. */
async function labels({ agents, cluster }: Stage) {
  const sets = policyObject(
    "sets",
    "app == 'db'",
    Array.from({ length: 10 }, (_, n) => ({ action: "Allow", source: { selector: `moved == '${n}'` } })),
  );
  const pod = podObject("moved", "10.65.9.9", { moved: "0" });
  await create(cluster, sets);
  await createPod(cluster, pod);
  const found: (readonly [string, Figures])[] = [];
  for (const agent of agents) {
    agent.forget();
    await agent.start();
    await sleep(1_000);
    const before = agent.cpuSeconds;
    for (let turn = 1; turn <= 1_000; turn += 1)
      await patch(cluster, pod, { metadata: { ...pod.metadata, labels: { moved: String(turn % 10) } } });
    await sleep(2_000);
    found.push([agent.name, { "CPU s for 1000 label changes": agent.cpuSeconds - before, "RSS MiB": agent.rssMiB }]);
    await agent.stop();
  }
  await remove(cluster, sets);
  await remove(cluster, pod);
  return found;
}

/** All of 5,000 networks of a set are replaced; the last but one is asked. */
async function set({ agents, cluster, lab }: Stage) {
  const nets = (first: number) => Array.from({ length: 5_000 }, (_, n) => `${first}.${n >> 8}.${n & 255}.0/24`);
  const big: ApiObject = {
    apiVersion: "crd.projectcalico.org/v1",
    kind: "GlobalNetworkSet",
    metadata: { name: "big", labels: { big: "yes" } },
    spec: { nets: [...nets(20), "10.65.0.2/32"] },
  };
  const policy = policyObject("big", "app == 'db'", [{ action: "Allow", source: { selector: "big == 'yes'" } }]);
  const flow = readFlow("red/web > red/db udp:53");
  const found: (readonly [string, Figures])[] = [];
  for (const agent of agents) {
    await create(cluster, big);
    await create(cluster, policy);
    agent.forget();
    await agent.start();
    const until = async (wanted: string, limitMs: number) => {
      const startedMs = performance.now();
      for (;;) {
        const got = await probe([flow], { resolve: lab.resolve, servers: lab.servers, timeoutMs: 25, triesOnce: true });
        if (got.get(flow.text) === wanted) return performance.now() - startedMs;
        if (performance.now() - startedMs > limitMs) return Number.NaN;
      }
    };
    await until("allow", 60_000);
    await patch(cluster, big, { spec: { nets: nets(40) } });
    const ms = await until("deny", 90_000);
    found.push([agent.name, { "5000 networks replaced ms": ms, "RSS MiB": agent.rssMiB }]);
    await agent.stop();
    await remove(cluster, policy);
    await remove(cluster, big);
  }
  return found;
}

/** Between two pods of one node, with so many policies on the receiver, and with many in the cluster that do not apply. */
async function throughput({ agents, cluster, lab, rounds }: Stage) {
  const found: [string, Figures][] = [];
  const measure = () => {
    const [streams, datagrams]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      streams.push(iperf(lab, ["-t", "2"]).bits / 1e9);
      datagrams.push(iperf(lab, ["-u", "-b", "0", "-l", "64", "-t", "2"]).packets / 1e3);
    }
    return { gbit: Math.max(...streams), kpps: Math.max(...datagrams) };
  };
  const isMissing = spawnSync("iperf3", ["--version"]).error !== undefined;
  if (isMissing) console.log("throughput: there is no iperf3, so only the memory is measured");
  spawnSync("nft", ["flush", "ruleset"]);
  if (!isMissing) {
    const floor = measure();
    found.push(["no agent", { "Gbit/s": floor.gbit, "1000 packets/s": floor.kpps }]);
  }
  for (const agent of agents) {
    const figures: { [name: string]: number } = {};
    const step = async (name: string, policies: readonly ApiObject[]) => {
      await inParallel(policies, (policy) => create(cluster, policy));
      agent.forget();
      await agent.start();
      if (!isMissing) {
        const got = measure();
        Object.assign(figures, { [`${name}: Gbit/s`]: got.gbit, [`${name}: 1000 packets/s`]: got.kpps });
      }
      figures[`${name}: RSS MiB`] = agent.rssMiB;
      await agent.stop();
      await inParallel(policies, (policy) => remove(cluster, policy));
    };
    const allow = policyObject("z-allow", "app == 'db'", [{ action: "Allow" }]);
    const on = (count: number) => [...manyPolicies(count, "app == 'db'"), ...(count === 0 ? [] : [allow])];
    await step("0 policies", on(0));
    await step("10", on(10));
    await step("200", on(200));
    await step("10000 elsewhere", manyPolicies(10_000, "app == 'nowhere'"));
    found.push([agent.name, figures]);
  }
  return found;
}

function iperf(lab: PolicyLab, words: readonly string[]): { bits: number; packets: number } {
  const server = lab.namespaceOf("red/db");
  spawnSync("ip", [
    "netns",
    "exec",
    server,
    "iperf3",
    "-s",
    "-D",
    "-1",
    "-p",
    "5555",
    "-B",
    "10.65.0.3",
    "--forceflush",
  ]);
  spawnSync("sleep", ["0.2"]);
  const { stdout } = spawnSync(
    "ip",
    ["netns", "exec", lab.namespaceOf("red/web"), "iperf3", "-c", "10.65.0.3", "-p", "5555", "-J", ...words],
    { encoding: "utf8" },
  );
  const {
    end,
  }: {
    end: {
      sum_received?: { bits_per_second: number };
      sum?: { packets: number; seconds: number; lost_packets?: number };
    };
  } = JSON.parse(stdout);
  const { packets = 0, seconds = 1, lost_packets: lost = 0 } = end.sum ?? {};
  return { bits: end.sum_received?.bits_per_second ?? 0, packets: (packets - lost) / seconds };
}

function quantile(values: readonly number[], at: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? Number.NaN;
}
