// The CNI plugins with an agent behind them, as a runtime starts them, on namespaces of their own and a folder: the agent answers what is its own, hands
// back what is not, and may be killed, stopped or of another release at any time.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, test } from "node:test";
import { callProgram, runProgram, tryPassingFlock } from "../../src/base/linux/index.ts";
import { podLockPath } from "../../src/node/cni/pod-lock.ts";
import { hostSideName } from "../../src/node/endpoints/index.ts";
import { startCniAgent } from "../kit/cni-agent.ts";
import { eventually } from "../kit/eventually.ts";
import { freshNamespace, noNamespaces } from "../kit/namespace.ts";

const limits = { skip: noNamespaces, timeout: 300_000 };
const folder = mkdtempSync(join(tmpdir(), "cattail-cnir-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const socket = join(folder, "run", "cattail", "cni.sock");
const bin = join(folder, "bin");
mkdirSync(bin);
for (const name of ["calico", "calico-ipam"]) symlinkSync(resolve("bin/cni-plugin.cjs"), join(bin, name));

/** Objects of a cluster with these pods. */
function makeFolder(name: string): string {
  const objects = join(folder, name);
  mkdirSync(objects);
  const pods = Array.from({ length: 20 }, (_, i) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `p${i}`, namespace: "default" },
    spec: { nodeName: "n1" },
  }));
  const others = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } },
    { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } },
    {
      apiVersion: "projectcalico.org/v3",
      kind: "ClusterInformation",
      metadata: { name: "default" },
      spec: { datastoreReady: true, clusterGUID: name },
    },
    {
      apiVersion: "projectcalico.org/v3",
      kind: "IPPool",
      metadata: { name: "pool" },
      spec: { cidr: "10.66.0.0/24", blockSize: 28 },
    },
  ];
  const texts = [...others, ...pods].map((each) => JSON.stringify(each));
  writeFileSync(join(objects, "all.yaml"), texts.join("\n---\n"));
  return objects;
}

const objects = makeFolder("objects");
const configurationOn = (directory: string) => ({
  cniVersion: "1.1.0",
  name: "net",
  type: "calico",
  datastore_type: "directory",
  datastore_directory: directory,
  nodename: "n1",
  nodename_file_optional: true,
  ipam_lock_file: join(folder, "run", "ipam.lock"),
  log_file_path: join(folder, "cni.log"),
  ipam: { type: "calico-ipam" },
  policy: { type: "k8s" },
});

type Where = { readonly node: string; readonly netns: string; readonly container: string; readonly pod: string };
type Called = { readonly code: number; readonly said: { readonly [name: string]: unknown } };

async function call(
  command: string,
  where: Partial<Where> & Pick<Where, "node">,
  change: { configuration?: object; socket?: string; flags?: readonly string[] } = {},
): Promise<Called> {
  const { container = "", netns = "", pod = "" } = where;
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}`,
    HOME: folder,
    CNI_COMMAND: command,
    CNI_CONTAINERID: container,
    CNI_NETNS: netns,
    CNI_IFNAME: "eth0",
    CNI_PATH: bin,
    CNI_ARGS: `K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod}`,
    CATTAIL_CNI_SOCKET: change.socket ?? socket,
  };
  const stdin = JSON.stringify({ ...configurationOn(objects), ...change.configuration });
  const options = { env, stdin, namespace: where.node, alsoGood: [1], limitMs: 120_000 };
  const words = [...(change.flags ?? []), join(bin, "calico")];
  const { code, stdout } = await runProgram(process.execPath, words, options);
  return { code, said: ["", "OK\n"].includes(stdout) ? {} : JSON.parse(stdout) };
}

const agentOn = (node: string, path = socket) =>
  startCniAgent({ namespace: node, socket: path, node: "n1", datastore: { type: "directory", path: objects } });
const links = (name: string) =>
  execFileSync("ip", ["-n", name, "-o", "link", "show", "type", "veth"], { encoding: "utf8" }).trim();
const heldIn = (directory: string) => {
  const text = execFileSync("grep", ["-rhoE", 'handle_id: "?net\\.[a-z0-9-]+', directory, "--include=*.yaml"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return text.trim().split("\n").length;
};
const nothingHeld = (directory: string) => {
  try {
    return heldIn(directory) === 0;
  } catch {
    return true; // grep finds nothing
  }
};
/** The log file says which process did the work. */
const workers = () =>
  [
    ...readFileSync(join(folder, "cni.log"), "utf8").matchAll(
      /\]\[(\d+)\] cni-plugin\/plugin: (\w+) of container (\S+)/g,
    ),
  ].map(([, pid = "", command = "", container = ""]) => ({ pid: Number(pid), command, container }));
const workerOf = (command: string, container: string) =>
  workers().findLast((each) => each.command === command && each.container === container)?.pid;

test("the agent does the work of ADD, CHECK, DEL, STATUS and GC; the socket is its user's alone", limits, async () => {
  const [node, inside] = [freshNamespace(), freshNamespace()];
  await using agent = await agentOn(node.path);
  deepEqual([statSync(socket).mode & 0o777, statSync(dirname(socket)).mode & 0o777], [0o600, 0o700]);
  const where = { node: node.path, netns: inside.path, container: "c1", pod: "p1" };
  equal((await call("STATUS", { node: node.path })).code, 0);
  const added = await call("ADD", where);
  equal(added.code, 0, JSON.stringify(added.said));
  equal(workerOf("ADD", "c1"), agent.process.pid);
  deepEqual((await call("ADD", where)).said.ips, added.said.ips);
  equal((await call("CHECK", where, { configuration: { prevResult: added.said } })).code, 0);
  equal((await call("DEL", where)).code, 0);
  equal(workerOf("DEL", "c1"), agent.process.pid);
  deepEqual([links(node.name), nothingHeld(objects)], ["", true]);
  equal((await call("ADD", where)).code, 0);
  const valid = { "cni.dev/valid-attachments": [{ containerID: "c1", ifname: "eth0" }] };
  equal((await call("GC", { node: node.path }, { configuration: valid })).code, 0);
  ok(links(node.name) !== "");
  const none = { "cni.dev/valid-attachments": [] };
  equal((await call("GC", { node: node.path }, { configuration: none })).code, 0);
  deepEqual([links(node.name), nothingHeld(objects)], ["", true]);
  equal((await call("GC", { node: node.path })).said.code, 7); // that nothing is valid must be said
});

test(
  "a socket below a folder of somebody else, or of everybody, is not trusted: the plugin does the work",
  limits,
  async () => {
    const [node, inside] = [freshNamespace(), freshNamespace()];
    await using agent = await agentOn(node.path);
    const where = { node: node.path, netns: inside.path, container: "u1", pod: "p1" };
    const above = dirname(dirname(socket));
    const { uid, gid, mode } = statSync(above);
    const workers: (number | undefined)[] = [];
    for (const change of [
      () => chownSync(above, 12_345, gid),
      () => chmodSync(above, 0o777),
      () => chmodSync(above, 0o1777),
    ]) {
      change();
      for (const command of ["ADD", "DEL"]) equal((await call(command, where)).code, 0);
      workers.push(workerOf("ADD", "u1"));
      chownSync(above, uid, gid);
      chmodSync(above, mode & 0o7777);
    }
    const { pid } = agent.process;
    deepEqual(
      workers.map((each) => each === pid),
      [false, false, true],
    );
  },
);

const otherInsides: { name: string; text: string }[] = [
  { name: "has no such inner door", text: "process.binding = () => { throw new Error('gone'); };" },
  {
    name: "has another one",
    text: "const own = process.binding; process.binding = (n) => ({ ...own(n), streamBaseState: undefined });",
  },
];
for (const { name, text } of otherInsides) {
  test(`a Node that ${name}: the agent is asked nevertheless`, limits, async () => {
    const [node, inside] = [freshNamespace(), freshNamespace()];
    await using agent = await agentOn(node.path);
    const file = join(folder, "other-node.cjs");
    writeFileSync(file, text);
    const where = { node: node.path, netns: inside.path, container: "o1", pod: "p7" };
    const flags = ["--require", file];
    for (const command of ["ADD", "DEL"]) {
      equal((await call(command, where, { flags })).code, 0);
      equal(workerOf(command, "o1"), agent.process.pid);
    }
  });
}

test("sixteen at a time share what they write, and nobody gets an address twice", limits, async () => {
  const node = freshNamespace();
  await using _agent = await agentOn(node.path);
  const pods = Array.from({ length: 16 }, (_, i) => ({
    node: node.path,
    netns: freshNamespace().path,
    container: `m${i}`,
    pod: `p${i}`,
  }));
  const added = await Promise.all(pods.map((each) => call("ADD", each)));
  for (const { code, said } of added) equal(code, 0, JSON.stringify(said));
  equal(new Set(added.map(({ said }) => JSON.stringify(said.ips))).size, 16);
  for (const { code, said } of await Promise.all(pods.map((each) => call("DEL", each))))
    equal(code, 0, JSON.stringify(said));
  deepEqual([links(node.name), nothingHeld(objects)], ["", true]);
});

test(
  "what is not the agent's own the plugin does itself: another datastore, another node, another namespace",
  limits,
  async () => {
    const [node, other, inside] = [freshNamespace(), freshNamespace(), freshNamespace()];
    await using agent = await agentOn(node.path);
    const elsewhere = makeFolder("elsewhere");
    const where = { node: node.path, netns: inside.path, container: "c2", pod: "p2" };
    const configuration = configurationOn(elsewhere);
    equal((await call("ADD", where, { configuration })).code, 0);
    ok(workerOf("ADD", "c2") !== agent.process.pid);
    equal(heldIn(elsewhere) > 0 && nothingHeld(objects), true);
    equal((await call("DEL", where, { configuration })).code, 0);
    equal(nothingHeld(elsewhere), true);
    const { said } = await call("ADD", where, { configuration: { nodename: "n2" } });
    ok(workerOf("ADD", "c2") !== agent.process.pid, JSON.stringify(said));
    equal((await call("DEL", where, { configuration: { nodename: "n2" } })).code, 0);
    equal((await call("ADD", { ...where, node: other.path })).code, 0);
    ok(workerOf("ADD", "c2") !== agent.process.pid);
    equal((await call("DEL", { ...where, node: other.path })).code, 0);
  },
);

test("an agent that is killed in the middle of ADD, and of DEL: the plugin goes on by itself", limits, async () => {
  const node = freshNamespace();
  for (const [round, command] of (["ADD", "DEL"] as const).entries()) {
    const where = { node: node.path, netns: freshNamespace().path, container: `k${round}`, pod: `p${round}` };
    const agent = await agentOn(node.path);
    if (command === "DEL") equal((await call("ADD", where)).code, 0);
    const under = call(command, where);
    await eventually(() => workerOf(command, where.container) !== undefined, "the agent is at work");
    await agent.stop("SIGKILL");
    const { code, said } = await under;
    equal(code, 0, JSON.stringify(said));
    if (command === "ADD") equal((await call("DEL", where)).code, 0);
    deepEqual([links(node.name), nothingHeld(objects)], ["", true], command);
  }
});

test("a runtime that is killed during ADD: the agent undoes it, and DEL finds nothing", limits, async () => {
  const [node, inside] = [freshNamespace(), freshNamespace()];
  await using _agent = await agentOn(node.path);
  const where = { node: node.path, netns: inside.path, container: "h1", pod: "p3" };
  // A gate that does not open keeps the ADD waiting.
  const readiness_gates = ["http://127.0.0.1:9/"];
  const variables = {
    CNI_COMMAND: "ADD",
    CNI_CONTAINERID: "h1",
    CNI_NETNS: inside.path,
    CNI_IFNAME: "eth0",
    CNI_PATH: bin,
    CNI_ARGS: "K8S_POD_NAMESPACE=default;K8S_POD_NAME=p3",
  };
  const stdin = JSON.stringify({ ...configurationOn(objects), readiness_gates });
  const id = (path: string) => {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  };
  const ipam = { file: join(bin, "calico-ipam"), id: id(join(bin, "calico-ipam")), isOwn: true };
  const body = {
    protocol: 1,
    plugin: "calico",
    variables,
    stdin,
    seen: { node: id(node.path), pod: id(inside.path) },
    ipam,
  };
  const hangUp = new AbortController();
  const asked = callProgram({ path: socket, call: "cni", body, signal: hangUp.signal }).catch(
    (error: Error) => error.message,
  );
  await eventually(() => workerOf("ADD", "h1") !== undefined, "the agent is at work");
  hangUp.abort(new Error("gave up"));
  equal(await asked, "gave up");
  equal((await call("DEL", where)).code, 0);
  deepEqual([links(node.name), nothingHeld(objects)], ["", true]);
});

test("whoever works on a pod, the next call for it waits: in the agent and without one", limits, async () => {
  const node = freshNamespace();
  await using agent = await agentOn(node.path);
  const pod = "p6";
  const hostSide = hostSideName("cali", { pod: { namespace: "default", name: pod }, containerId: "" });
  const lock = podLockPath(configurationOn(objects).ipam_lock_file, hostSide);
  for (const [round, path] of [socket, ""].entries()) {
    const where = { node: node.path, netns: freshNamespace().path, container: `w${round}`, pod };
    const held = tryPassingFlock(lock);
    const under = call("ADD", where, { socket: path });
    await eventually(() => workerOf("ADD", where.container) !== undefined, "somebody is at work");
    equal(workerOf("ADD", where.container) === agent.process.pid, path === socket);
    await new Promise((resolve) => setTimeout(resolve, 200)); // long enough for an ADD that does not wait
    equal(links(node.name), "");
    held?.[Symbol.dispose]();
    equal((await under).code, 0);
    equal((await call("DEL", where, { socket: path })).code, 0);
    deepEqual([links(node.name), nothingHeld(objects), existsSync(lock)], ["", true, false]);
  }
});

test("an agent that is stopped answers what is under way, and the next call is the plugin's own", limits, async () => {
  const [node, inside] = [freshNamespace(), freshNamespace()];
  const agent = await agentOn(node.path);
  const where = { node: node.path, netns: inside.path, container: "s1", pod: "p4" };
  const under = call("ADD", where);
  await eventually(() => workerOf("ADD", "s1") !== undefined, "the agent is at work");
  await agent.stop("SIGTERM");
  equal((await under).code, 0);
  equal(workerOf("ADD", "s1"), agent.process.pid);
  equal((await call("DEL", where)).code, 0);
  ok(workerOf("DEL", "s1") !== agent.process.pid);
  deepEqual([links(node.name), nothingHeld(objects)], ["", true]);
});

const others: { name: string; answer: string | undefined }[] = [
  {
    name: "speaks another envelope",
    answer: '{"version":2,"is":"failed","error":{"code":"CALL_VERSION","problem":"x","next":"y"}}\n',
  },
  {
    name: "does not know this protocol",
    answer: '{"version":1,"is":"done","body":{"protocol":9,"is":"not mine","why":"protocol 1"}}\n',
  },
  {
    name: "answers with what nobody knows yet",
    answer: '{"version":1,"is":"done","body":{"protocol":2,"is":"later"}}\n',
  },
  { name: "answers with no JSON", answer: "hello\n" },
  { name: "answers with half a line and hangs up", answer: '{"version":1,"is":"done","body":{' },
  { name: "hangs up", answer: undefined },
];
for (const { name, answer } of others) {
  test(`an agent that ${name}: the plugin does the work`, limits, async () => {
    const [node, inside] = [freshNamespace(), freshNamespace()];
    const path = join(folder, "other.sock");
    const server = createServer((connection) => {
      connection.on("error", () => undefined).once("data", () => connection.end(answer ?? ""));
    }).listen(path);
    await once(server, "listening");
    const where = { node: node.path, netns: inside.path, container: "v1", pod: "p5" };
    equal((await call("ADD", where, { socket: path })).code, 0);
    equal((await call("DEL", where, { socket: path })).code, 0);
    server.close();
  });
}

test(
  "a plugin of another release: what it says beyond this one is passed over, another protocol is handed back",
  limits,
  async () => {
    const node = freshNamespace();
    await using _agent = await agentOn(node.path);
    const { dev, ino } = statSync(node.path, { bigint: true });
    const variables = { CNI_COMMAND: "STATUS", CNI_PATH: bin, NEW_VARIABLE: "x" };
    const stdin = JSON.stringify(configurationOn(objects));
    const body = {
      protocol: 1,
      plugin: "calico",
      variables,
      stdin,
      seen: { node: `${dev}:${ino}`, disk: "new" },
      more: [1],
    };
    const ask = (change: object) => callProgram({ path: socket, call: "cni", body: { ...body, ...change } });
    deepEqual(await ask({}), { protocol: 1, is: "answered", exitCode: 0, stdout: "", stderr: "" });
    for (const change of [{ protocol: 2 }, { plugin: "calico-next" }, { seen: undefined }]) {
      const { is } = (await ask(change)) as { is: string };
      equal(is, "not mine");
    }
    match(JSON.stringify(await callProgram({ path: socket, call: "cni-next", body })), /not mine/);
  },
);
