// `cattail node run` on a machine of its own, on a folder: it starts up, becomes ready, is killed, and its successor finds everything in force
// and leaves it alone. `node felix` and a link named calico-node, too.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { buildWorld, type LabNode } from "../../src/programs/lab/world/index.ts";
import { afterTest } from "../kit/after-test.ts";
import { eventually } from "../kit/eventually.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { missingProgram } from "../kit/programs.ts";

const options = { skip: noNamespaces || missingProgram("nft"), timeout: 300_000 };
const program = resolve("bin/cattail");

async function oneNode(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "cattail-node-run-"));
  afterTest(t).defer(() => rmSync(folder, { recursive: true, force: true }));
  const world = afterTest(t).use(await buildWorld({ folder: join(folder, "world"), nodes: 1 }));
  const [node] = world.nodes;
  if (node === undefined) throw new Error("there is no node");
  const env = {
    PATH: process.env.PATH ?? "",
    NODENAME: node.name,
    DATASTORE_TYPE: "directory",
    DATASTORE_DIRECTORY: join(folder, "datastore"),
    CALICO_NETWORKING_BACKEND: "vxlan",
    CALICO_IPV4POOL_CIDR: "10.77.0.0/16",
    CALICO_IPV4POOL_VXLAN: "Always",
    IP: "autodetect",
    FELIX_IPV6SUPPORT: "false",
    FELIX_HEALTHENABLED: "true",
    FELIX_LOGSEVERITYSYS: "none",
    FELIX_PROMETHEUSMETRICSENABLED: "true",
    CALICO_DISABLE_FILE_LOGGING: "true",
  };
  mkdirSync(env.DATASTORE_DIRECTORY);
  const log = join(folder, "agent.log");
  const start = (words: readonly string[], of: { program?: string; env?: object } = {}) =>
    node.start(process.execPath, [of.program ?? program, ...words], { env: { ...env, ...of.env }, log });
  const probe = async (words: readonly string[]) =>
    (await node.run(process.execPath, [program, "node", "health", ...words], { env, alsoGood: [1] })).code === 0;
  const ready = () =>
    eventually(
      () => probe(["--felix-ready"]),
      () => `ready\n${readFileSync(log, "utf8").slice(-6000)}`,
    );
  return { folder, node, env, log, start, probe, ready };
}

/** What must not change when nobody asks for anything. */
async function kernelState(node: LabNode) {
  const of = async (name: string, args: readonly string[]) => (await node.run(name, args)).stdout;
  const rules = await of("nft", ["-a", "list", "ruleset"]);
  return {
    rules: rules.replace(/packets \d+ bytes \d+/g, ""),
    routes: await of("ip", ["-d", "route"]),
    devices: (await of("ip", ["-d", "link", "show", "type", "vxlan"])).replace(/\bstate \S+/g, ""),
    forwarding: await of("cat", ["/proc/sys/net/ipv4/ip_forward"]),
  };
}

test(
  "node run starts the node up, is ready, and a successor of one that was killed changes nothing",
  options,
  async (t) => {
    const { node, start, ready, probe, log } = await oneNode(t);
    equal(await probe(["--felix-live"]), false, "nothing answers before it runs");
    const first = start(["node", "run"]);
    await ready();
    equal(readFileSync(node.path("/var/lib/calico/nodename"), "utf8"), node.name);
    ok(await probe(["--felix-live"]));
    const metrics = async () =>
      (
        await node.run(process.execPath, [
          "-e",
          "fetch('http://127.0.0.1:9091/metrics').then(r=>r.text()).then(t=>console.log(t))",
        ])
      ).stdout;
    match(await metrics(), new RegExp(`^felix_host\\{host="${node.name}"\\} 1$`, "m"));
    for (const part of ["policy", "routes", "cni", "tunnel-addresses", "address-monitor"])
      match(await metrics(), new RegExp(`^cattail_node_part_up\\{part="${part}"\\} 1$`, "m"));
    // The tunnel's address comes a moment after the pool.
    await eventually(
      async () =>
        /inet 10\.77\./.test((await node.run("ip", ["addr", "show", "vxlan.calico"], { alsoGood: [1] })).stdout),
      "the tunnel's address",
    );
    await ready();
    const before = await kernelState(node);
    match(before.devices, /vxlan\.calico/);
    equal(before.forwarding.trim(), "1");

    const gone = new Promise((done) => first.once("exit", done));
    first.kill("SIGKILL");
    await gone;
    deepEqual(await kernelState(node), before, "killed, it leaves everything in force");
    start(["node", "run"]);
    await ready();
    deepEqual(await kernelState(node), before, "its successor changes nothing that is right");
    equal((readFileSync(log, "utf8").match(/A part of the agent failed/g) ?? []).length, 0);
  },
);

test("asked to stop, it ends well within its time, and the kernel's state stays", options, async (t) => {
  const { node, start, ready } = await oneNode(t);
  const agent = start(["node", "run"]);
  await ready();
  const before = await kernelState(node);
  const code = new Promise<number | null>((done) => agent.once("exit", (exit) => done(exit)));
  agent.kill("SIGTERM");
  equal(await code, 0);
  deepEqual((await kernelState(node)).rules, before.rules);
});

test("a second agent waits for the first one's end, and nothing is taken away beside one", options, async (t) => {
  const { node, env, log, start, ready } = await oneNode(t);
  const first = start(["node", "run"]);
  await ready();
  const shutdown = () => node.run(process.execPath, [program, "node", "shutdown", "--clean"], { env, alsoGood: [1] });
  const refused = await shutdown();
  equal(refused.code, 1);
  match(
    `${refused.stdout}${refused.stderr}`,
    new RegExp(`another agent keeps this node's rules and routes: pid ${first.pid}, `),
  );
  ok((await kernelState(node)).devices.includes("vxlan.calico"), "nothing was taken away");
  const said = (what: RegExp) =>
    eventually(
      () => what.test(readFileSync(log, "utf8")),
      () => `${what}\n${readFileSync(log, "utf8").slice(-3000)}`,
    );
  const second = start(["node", "felix"]);
  await said(new RegExp(`Another agent is at work on this node.*pid ${first.pid}, cattail node run`));
  equal(second.exitCode, null, "it waits");
  const gone = new Promise((done) => first.once("exit", done));
  first.kill("SIGTERM");
  await gone;
  await said(/The other agent has ended/);
  await ready();
  const ended = new Promise((done) => second.once("exit", done));
  second.kill("SIGTERM");
  await ended;
  equal((await shutdown()).code, 0);
  ok(!(await kernelState(node)).devices.includes("vxlan.calico"), "with nobody there everything goes");
});

test(
  "a link named calico-node runs Felix's half with its old flag, and is asked with its old flags",
  options,
  async (t) => {
    const { folder, node, env, start, ready } = await oneNode(t);
    const link = join(folder, "calico-node");
    symlinkSync(program, link);
    await node.run(process.execPath, [link, "-startup"], { env });
    start(["-felix"], { program: link });
    await ready();
    const { code } = await node.run(process.execPath, [link, "-felix-ready", "-felix-live"], { env, alsoGood: [1] });
    equal(code, 0);
  },
);
