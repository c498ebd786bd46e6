// BIRD ends and comes back, killed or on purpose, under a running ping: no packet is lost, because its peers are not told, its routes stay in the kernel,
// and the next one waits for its peers before it removes any. (A BIRD that ends in good order costs seconds: its peers withdraw at once.)
import { deepEqual, equal, ok } from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { ping } from "../../src/base/linux/kernel.ts";
import { lookAtBird } from "../../src/node/bird/daemon/look.ts";
import type { BgpCase } from "../kit/bgp/case.ts";
import { noBird } from "../kit/bgp/daemon.ts";
import { ip } from "../kit/bgp/network.ts";
import { PlayedCase } from "../kit/bgp/play.ts";
import { eventually } from "../kit/eventually.ts";
import { noNamespaces } from "../kit/namespace.ts";

const crd = (kind: string, name: string, spec: object) => ({
  apiVersion: "crd.projectcalico.org/v1",
  kind,
  metadata: { name },
  spec,
});
const block = (node: string, cidr: string) =>
  crd("BlockAffinity", `${node}-${cidr.replaceAll(/[./]/g, "-")}`, {
    cidr,
    node,
    state: "confirmed",
    deleted: "false",
    type: "host",
  });
const played: BgpCase = {
  about: "two nodes of a mesh",
  nodes: [
    { name: "n1", ip: "172.30.0.11/24" },
    { name: "n2", ip: "172.30.0.12/24" },
  ],
  objects: [
    crd("IPPool", "pool", {
      cidr: "10.244.0.0/16",
      ipipMode: "Never",
      vxlanMode: "Never",
      blockSize: 26,
      nodeSelector: "all()",
    }),
    block("n1", "10.244.1.0/26"),
    block("n2", "10.244.2.0/26"),
  ],
};

const child = new URL("../kit/bgp/supervise-child.ts", import.meta.url).pathname;

/** BIRD on n1, kept as the agent keeps it. */
class Supervised {
  readonly said: { message: string; pid?: number; recovers?: boolean }[] = [];
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(namespace: string, folder: string) {
    const files = [join(folder, "bird.cfg"), join(folder, "bird.ctl")];
    this.#process = spawn("ip", ["netns", "exec", namespace, process.execPath, child, ...files], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#ended = new Promise((resolve) => this.#process.once("exit", resolve));
    let rest = "";
    this.#process.stdout?.on("data", (data: Buffer) => {
      rest += data;
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("{")) this.said.push(JSON.parse(line));
    });
  }

  get started() {
    return this.said.filter(({ message }) => message === "BIRD is started");
  }

  async end(): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#ended;
  }
}

test("a BIRD that is killed, and one that is ended on purpose and started again, lose no packet", {
  skip: noNamespaces || noBird,
  timeout: 590_000,
}, async () => {
  await using run = await PlayedCase.start(played, { starts: (node) => node !== "n1" });
  const [one = "", two = ""] = [run.namespaces.get("n1"), run.namespaces.get("n2")];
  const folder = join(run.folder, "n1");
  // Somebody who answers under an address of n1's block.
  ip("-n", one, "addr", "add", "10.244.1.5/32", "dev", "lo");
  const first = new Supervised(one, folder);
  let last = first;
  const [enough, over] = [new AbortController(), new AbortController()];
  try {
    const routed = () => ip("-n", two, "route", "show", "10.244.1.0/26").includes("172.30.0.11");
    const established = async () => {
      const { facts } = await run.facts();
      return facts.nodes.n2?.sessions?.some(({ state }) => state === "Established") === true;
    };
    // Ended twice before that, its peer would have given up its routes: it keeps them through one restart at a time.
    const recovered = async () => {
      const look = await lookAtBird(join(folder, "bird.ctl"));
      const isUp = (info: string) => info.startsWith("Established");
      return look.is === "running" && !look.isWaiting && look.protocols.some(({ info }) => isUp(info));
    };
    await eventually(async () => (await established()) && routed(), "the route to n1's block is there");
    await eventually(() => ip("-n", one, "route", "show", "10.244.2.0/26").includes("172.30.0.12"), "and the one back");
    equal(first.started[0]?.recovers, false, "on a fresh machine there is nothing to wait for");

    const namespace = `/run/netns/${two}`;
    const how = {
      namespace,
      count: Number.POSITIVE_INFINITY,
      intervalMs: 50,
      signal: over.signal,
      enough: enough.signal,
    };
    const pinging = ping("10.244.1.5", how);

    process.kill(first.started[0]?.pid ?? 0, "SIGKILL");
    await eventually(() => first.started.length === 2, "it is started again");
    equal(first.started[1]?.recovers, true, "with routes in the kernel it waits for its peers");
    await eventually(recovered, "it has heard its peers again");
    await eventually(established, "the session is back");

    await first.end();
    equal(routed(), true, "the peer keeps the route");
    ok(ip("-n", one, "route", "show", "10.244.2.0/26").includes("172.30.0.12"), "the kernel keeps the route");
    last = new Supervised(one, folder);
    await eventually(() => last.started.length === 1, "a new agent starts it");
    equal(last.started[0]?.recovers, true);
    await eventually(recovered, "it has heard its peers again after the planned end");
    await eventually(routed, "the route stays");

    enough.abort();
    const { sent, received } = await pinging;
    ok(sent > 50, `${sent} pings`);
    equal(sent - received, 0, `lost ${sent - received} of ${sent}`);
  } finally {
    over.abort();
    await first.end();
    if (last !== first) await last.end();
  }
  deepEqual(
    first.said.filter(({ message }) => message === "BIRD could not be ended"),
    [],
  );
});
