// Situations in which a plugin is called, on namespaces of their own and a folder: each is a row, and after each nothing is left. The recorded cases
// (cni-golden) and the campaign have what goes right and what is killed; here is what is found in the way.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { runProgram } from "../../src/base/linux/index.ts";
import { openDoor } from "../kit/cni-cases/door.ts";
import { freshNamespace, noNamespaces } from "../kit/namespace.ts";
import { addPublicPlugins } from "../kit/public-plugins.ts";

const limits = { skip: noNamespaces, timeout: 300_000 };
const folder = mkdtempSync(join(tmpdir(), "cattail-cnis-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const bin = join(folder, "bin");
const objects = join(folder, "objects");
for (const each of [bin, objects]) mkdirSync(each);
for (const name of ["calico", "calico-ipam"]) symlinkSync(resolve("bin/cni-plugin.cjs"), join(bin, name));
const v3 = "projectcalico.org/v3";
const annotated = (name: string, annotations: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", uid: `uid-of-${name}`, annotations },
  spec: { nodeName: "n1" },
});
const all = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } },
  {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1" },
    spec: { podCIDR: "10.70.1.0/24", podCIDRs: ["10.70.1.0/24", "fd00:70::/64"] },
  },
  { apiVersion: v3, kind: "ClusterInformation", metadata: { name: "default" }, spec: { datastoreReady: true } },
  { apiVersion: v3, kind: "IPPool", metadata: { name: "pool" }, spec: { cidr: "10.66.0.0/24", blockSize: 28 } },
  annotated("p1"),
  annotated("named", { "cni.projectcalico.org/ipAddrs": '["10.66.0.77"]' }),
];
writeFileSync(join(objects, "all.yaml"), all.map((each) => JSON.stringify(each)).join("\n---\n"));
const nodenameFile = join(folder, "nodename");
writeFileSync(nodenameFile, "n1");

const usual = {
  cniVersion: "1.1.0",
  name: "net",
  type: "calico",
  datastore_type: "directory",
  datastore_directory: objects,
  nodename_file: nodenameFile,
  ipam_lock_file: join(folder, "run", "ipam.lock"),
  ipam: { type: "calico-ipam" },
  policy: { type: "k8s" },
};
type Namespace = { readonly name: string; readonly path: string };
type Situation = { readonly node: Namespace; readonly inside: Namespace };
type Asked = {
  readonly container?: string;
  readonly netns?: string;
  readonly ifname?: string;
  /** "": no pod. */
  readonly pod?: string;
  readonly args?: string;
  readonly program?: string;
  readonly configuration?: object;
};
type Called = { readonly code: number; readonly said: { readonly [name: string]: unknown }; readonly stderr: string };

async function call(command: string, { node, inside }: Situation, asked: Asked = {}): Promise<Called> {
  const { container = "c1", netns = inside.path, ifname = "eth0", pod = "p1", args = "", program = "calico" } = asked;
  const ofPod = pod === "" ? "" : `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod}`;
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}`,
    HOME: folder,
    CNI_COMMAND: command,
    CNI_CONTAINERID: container,
    CNI_NETNS: netns,
    CNI_IFNAME: ifname,
    CNI_PATH: bin,
    CNI_ARGS: [ofPod, args].filter((each) => each !== "").join(";"),
    CATTAIL_CNI_SOCKET: "",
  };
  const stdin = JSON.stringify({ ...usual, ...asked.configuration });
  const options = { env, stdin, namespace: node.path, alsoGood: [1], limitMs: 120_000 };
  const file = join(bin, program);
  const { code, stdout, stderr } = program.startsWith("calico")
    ? await runProgram(process.execPath, [file], options)
    : await runProgram(file, [], options);
  return { code, said: ["", "OK"].includes(stdout.trim()) ? {} : JSON.parse(stdout), stderr };
}

const ip = ({ name }: Namespace, ...words: string[]) =>
  execFileSync("ip", ["-n", name, ...words], { encoding: "utf8" }).trim();
/** Of pods, on either side. */
const links = (of: Namespace) =>
  ip(of, "-o", "link", "show", "type", "veth")
    .split("\n")
    .filter((line) => /: (cali|eth|net)/.test(line))
    .join("\n");
const held = () => {
  try {
    const found = execFileSync("grep", ["-rhoE", 'handle_id: "?net\\.[a-z0-9-]+', objects], { encoding: "utf8" });
    return found
      .trim()
      .split("\n")
      .map((line) => line.replace(/.*net\./, ""));
  } catch {
    return []; // grep finds nothing
  }
};
const hostSide = "cali182c452fe96";
const ok0 = ({ code, said }: Called) => equal(code, 0, JSON.stringify(said));

const rows: { readonly name: string; readonly play: (at: Situation) => Promise<void> }[] = [
  {
    name: "a node name that ends in a new line",
    async play(at) {
      writeFileSync(nodenameFile, "n1\n");
      ok0(await call("ADD", at));
      writeFileSync(nodenameFile, "n1");
      ok0(await call("DEL", at));
    },
  },
  {
    name: "a folder where the node's name should be, as a mount makes it: the configuration's deprecated field counts",
    async play(at) {
      const configuration = { nodename_file: folder, hostname: "n1" };
      const added = await call("ADD", at, { configuration });
      ok0(added);
      match(added.stderr, /the node's name is not read from .*EISDIR/);
      ok0(await call("DEL", at, { configuration }));
    },
  },
  {
    name: "fields that are written in capitals",
    async play(at) {
      const configuration = {
        ipam: undefined,
        IPAM: { Type: "calico-ipam" },
        policy: undefined,
        Policy: { TYPE: "k8s" },
      };
      const added = await call("ADD", at, { configuration: { ...configuration, MTU: 1300 } });
      ok0(added);
      match(ip(at.inside, "link", "show", "eth0"), /mtu 1300/);
      ok0(await call("DEL", at, { configuration }));
    },
  },
  {
    name: "an IPAM plugin whose answer nobody understands gets back what it gave",
    async play(at) {
      const asked = join(folder, "asked");
      const answer = '{"cniVersion":"1.0.0","ips":[{"address":"10.66.9.9/24"}],"routes":[{"dst":"<nil>"}]}';
      const script = `#!/bin/sh\ncat > /dev/null\necho $CNI_COMMAND >> ${asked}\n[ $CNI_COMMAND != ADD ] || echo '${answer}'\n`;
      writeFileSync(join(bin, "odd-ipam"), script, { mode: 0o755 });
      const { said } = await call("ADD", at, { configuration: { cniVersion: "1.0.0", ipam: { type: "odd-ipam" } } });
      deepEqual(said, { code: 999, msg: "invalid CIDR address: <nil>" });
      equal(readFileSync(asked, "utf8"), "ADD\nDEL\n");
    },
  },
  {
    name: "no node name: the original's words, and what to do",
    async play(at) {
      const { said, stderr } = await call("ADD", at, { configuration: { nodename_file: "/nowhere/nodename" } });
      const advice = "check that the calico/node container is running and has mounted /var/lib/calico/";
      deepEqual(said, { code: 999, msg: `stat /nowhere/nodename: no such file or directory: ${advice}` });
      match(stderr, /cattail node writes \/nowhere\/nodename when it starts/);
    },
  },
  {
    name: "an address that a route of something else has",
    async play(at) {
      ip(at.node, "link", "add", "other0", "type", "veth", "peer", "name", "other1");
      ip(at.node, "link", "set", "other0", "up");
      ip(at.node, "route", "add", "10.66.0.77/32", "dev", "other0");
      const { said } = await call("ADD", at, { pod: "named" });
      match(String(said.msg), /already exists for an interface other than 'cali.*Iface: other0\)/);
      deepEqual([links(at.node), held()], ["", []]);
      ip(at.node, "link", "del", "other0");
      ok0(await call("ADD", at, { pod: "named" }));
      match(ip(at.node, "route"), /10\.66\.0\.77 dev cali/);
      ok0(await call("DEL", at, { pod: "named" }));
    },
  },
  {
    name: "an interface of the name is left over",
    async play(at) {
      ip(at.node, "link", "add", hostSide, "type", "veth", "peer", "name", "left0");
      ok0(await call("ADD", at));
      equal(ip(at.node, "-o", "link", "show", hostSide).includes("left0"), false);
      ok0(await call("DEL", at));
    },
  },
  {
    name: "a full disk under log and lock",
    async play(at) {
      const full = join(folder, "full");
      mkdirSync(full);
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=4k,nr_inodes=2", "tmpfs", full]);
      try {
        writeFileSync(join(full, "filler"), "x".repeat(4096));
        const configuration = {
          log_file_path: join(full, "log", "cni.log"),
          ipam_lock_file: join(full, "run", "ipam.lock"),
        };
        const added = await call("ADD", at, { configuration });
        ok0(added);
        match(added.stderr, /lock .* cannot be had, and is done without/);
        ok0(await call("DEL", at, { configuration }));
      } finally {
        execFileSync("umount", [full]);
      }
    },
  },
  {
    name: "no MTU file: an error in a log that has only errors",
    async play(at) {
      const log = join(folder, "errors.log");
      const configuration = { log_level: "error", log_file_path: log };
      ok0(await call("ADD", at, { configuration }));
      ok0(await call("DEL", at, { configuration }));
      const lines = existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : [];
      const isThere = existsSync("/var/lib/calico/mtu"); // of the machine: an agent may run here
      equal(lines.length, isThere ? 0 : 1);
      for (const line of lines) match(line, /\[ERROR\].* \/var\/lib\/calico\/mtu is not there/);
    },
  },
  {
    name: "the pod has an interface of that name already",
    async play(at) {
      ip(at.inside, "link", "add", "eth0", "type", "veth", "peer", "name", "left0");
      const { said } = await call("ADD", at);
      equal(said.msg, "file exists");
      match(String(said.details), /has an interface eth0 already/);
      ip(at.inside, "link", "del", "eth0");
      deepEqual([links(at.node), held()], ["", []]);
      ok0(await call("ADD", at));
      ok0(await call("DEL", at));
    },
  },
  {
    name: "a log and a lock where no folder can be made",
    async play(at) {
      const configuration = { log_file_path: "/proc/none/log/cni.log", ipam_lock_file: "/proc/none/run/ipam.lock" };
      const added = await call("ADD", at, { configuration });
      ok0(added);
      match(added.stderr, /lock \/proc\/none\/run\/ipam.lock cannot be had, and is done without/);
      ok0(await call("DEL", at, { configuration }));
    },
  },
  {
    name: "DEL without a namespace takes this container's interface, and nobody else's",
    async play(at) {
      ok0(await call("ADD", at, { container: "new" }));
      ok0(await call("DEL", at, { container: "old", netns: "" }));
      deepEqual([links(at.node) !== "", held()], [true, ["new"]]);
      ok0(await call("DEL", at, { container: "new", netns: "" }));
    },
  },
  {
    name: "DEL twice, of what never was, and after the namespace has gone",
    async play(at) {
      ok0(await call("DEL", at, { container: "never" }));
      ok0(await call("ADD", at));
      ok0(await call("DEL", at, { netns: "/var/run/netns/gone" }));
      ok0(await call("DEL", at));
    },
  },
  {
    name: "an interface that is not called eth0",
    async play(at) {
      ok0(await call("ADD", at, { ifname: "net1" }));
      match(ip(at.inside, "-o", "addr", "show", "dev", "net1"), /10\.66\.0\.\d+\/32/);
      ok0(await call("DEL", at, { ifname: "net1" }));
      match(readFileSync(join(objects, "all.yaml"), "utf8"), /cni\.projectcalico\.org\/podIP"?: ""/);
    },
  },
  {
    name: "a sandbox of a pod that was replaced since gets nothing, and marks nobody",
    async play(at) {
      const { said } = await call("ADD", at, { args: "K8S_POD_UID=uid-of-an-older-one", container: "stale" });
      match(String(said.msg), /pod default\/p1 was replaced by another of its name/);
      equal(readFileSync(join(objects, "all.yaml"), "utf8").includes("stale"), false);
      ok0(await call("ADD", at, { args: "K8S_POD_UID=uid-of-p1" }));
      ok0(await call("DEL", at));
    },
  },
  {
    name: "a container that is no pod, without Kubernetes",
    async play(at) {
      const configuration = { policy: {} };
      const asked = { pod: "", container: "box1", configuration };
      const added = await call("ADD", at, asked);
      ok0(added);
      const stored = execFileSync("grep", ["-rl", "n1-cni-box1-eth0", objects], { encoding: "utf8" });
      ok(stored !== "");
      ok0(await call("CHECK", at, { ...asked, configuration: { ...configuration, prevResult: added.said } }));
      equal(ip(at.node, "-o", "link", "show", "calibox1").includes("UP"), true);
      ok0(await call("DEL", at, asked));
    },
  },
  {
    name: "STATUS with a gate that is closed, and with one that is open; ADD waits for it",
    async play(at) {
      await using gate = createServer((_, response) => response.writeHead(204).end());
      gate.listen(0, "127.0.0.1");
      await once(gate, "listening");
      const { port } = gate.address() as AddressInfo; // it listens on a port
      const configuration = { readiness_gates: [`http://127.0.0.1:${port}/`] };
      const closed = await call("STATUS", at, { configuration });
      equal(closed.said.code, 50, JSON.stringify(closed.said));
      match(String(closed.said.msg), /readiness gate http:.*(refused|unreach)/i);
      ip(at.node, "link", "set", "lo", "up");
      using _door = openDoor(at.node.path, port);
      ok0(await call("STATUS", at, { configuration }));
      ok0(await call("ADD", at, { configuration }));
      ok0(await call("DEL", at, { configuration }));
    },
  },
  {
    name: "Felix's status file is waited for, and no longer than asked",
    async play(at) {
      const configuration = { policy_setup_timeout_seconds: 1, endpoint_status_dir: join(folder, "status") };
      const late = await call("ADD", at, { configuration });
      ok0(late);
      match(late.stderr, /policy was not in place within 1 s/);
      mkdirSync(join(folder, "status"));
      writeFileSync(join(folder, "status", "k8s default%2Fp1 eth0"), "{}");
      const early = await call("ADD", at, { configuration });
      deepEqual([early.code, early.stderr], [0, ""]);
      ok0(await call("DEL", at, { configuration }));
    },
  },
  {
    name: "an API server that is away is named",
    async play(at) {
      const kubeconfig = writeKubeconfig("http://127.0.0.1:9", "t");
      const configuration = { datastore_type: "kubernetes", kubernetes: { kubeconfig } };
      ip(at.node, "link", "set", "lo", "up");
      for (const command of ["ADD", "DEL", "STATUS"]) {
        const { code, said } = await call(command, at, { configuration });
        match(`${code} ${said.msg}`, /^1 error getting ClusterInformation: .*127\.0\.0\.1:9.*refused/i);
      }
    },
  },
  {
    name: "a token that has expired: the kubeconfig is read again once",
    async play(at) {
      const seen: string[] = [];
      await using server = createServer(({ headers: { authorization = "" } }, response) => {
        seen.push(authorization);
        if (authorization === "Bearer old") writeKubeconfig(url, "new"); // as the agent does meanwhile
        response.writeHead(authorization === "Bearer new" ? 403 : 401, { "content-type": "application/json" });
        response.end(JSON.stringify({ kind: "Status", message: "the new token was seen" }));
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo; // it listens on a port
      const url = `http://127.0.0.1:${port}`;
      const kubeconfig = writeKubeconfig(url, "old");
      ip(at.node, "link", "set", "lo", "up");
      using _door = openDoor(at.node.path, port);
      const configuration = { datastore_type: "kubernetes", kubernetes: { kubeconfig } };
      const { said } = await call("ADD", at, { configuration });
      deepEqual(seen.slice(0, 2), ["Bearer old", "Bearer new"]);
      match(String(said.msg), /error getting ClusterInformation: .*the new token was seen/);
      server.closeAllConnections();
    },
  },
];

function writeKubeconfig(server: string, token: string): string {
  const path = join(folder, "kubeconfig");
  const text = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "u", user: { token } }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    "current-context": "c",
  };
  writeFileSync(path, JSON.stringify(text));
  return path;
}

for (const { name, play } of rows) {
  test(name, limits, async () => {
    const at = { node: freshNamespace(), inside: freshNamespace() };
    await play(at);
    deepEqual([links(at.node), links(at.inside), held()], ["", "", []]);
  });
}

describe("other plugins", limits, () => {
  let missing: string | undefined;
  before(async () => {
    missing = await addPublicPlugins(bin, ["host-local", "portmap", "tuning"]);
  });

  test("host-local with the node's pod CIDR, and plugins chained after it", limits, async (context) => {
    if (missing !== undefined) return context.skip(missing);
    const at = { node: freshNamespace(), inside: freshNamespace() };
    const ipam = {
      type: "host-local",
      subnet: "usePodCidr",
      dataDir: join(folder, "host-local"),
      routes: [{ dst: "0.0.0.0/0" }],
    };
    const configuration = { cniVersion: "1.0.0", ipam };
    const added = await call("ADD", at, { configuration });
    ok0(added);
    const [{ address }] = added.said.ips as [{ address: string }];
    match(address, /^10\.70\.1\.\d+\/32$/);
    match(ip(at.node, "route"), new RegExp(`^${address.replace("/32", "")} dev ${hostSide}`, "m"));
    match(ip(at.inside, "route"), /^default via 169\.254\.1\.1 dev eth0/m);
    const chained = {
      program: "tuning",
      configuration: { cniVersion: "1.0.0", type: "tuning", mtu: 1300, ipam: undefined, prevResult: added.said },
    };
    const tuned = await call("ADD", at, chained);
    ok0(tuned);
    deepEqual(tuned.said.ips, added.said.ips);
    match(ip(at.inside, "link", "show", "eth0"), /mtu 1300/);
    const check = { ...configuration, prevResult: added.said };
    ok0(await call("CHECK", at, { configuration: check }));
    ok0(await call("DEL", at, chained));
    ok0(await call("DEL", at, { configuration }));
    deepEqual([links(at.node), held()], ["", []]);
    equal(execFileSync("find", [join(folder, "host-local"), "-name", "10.70.*"], { encoding: "utf8" }), "");
  });

  for (const include_default_routes of [false, true]) {
    const beside = include_default_routes ? "beside the default routes" : "in the place of the default routes";
    test(`host-local with both of the node's pod CIDRs and its routes ${beside}`, limits, async (context) => {
      if (missing !== undefined) return context.skip(missing);
      const at = { node: freshNamespace(), inside: freshNamespace() };
      const ipam = {
        type: "host-local",
        ranges: [[{ subnet: "usePodCidr" }], [{ subnet: "usepodcidripv6" }]],
        dataDir: join(folder, `both-${include_default_routes}`),
        routes: [{ dst: "10.96.0.5/12" }, { dst: "fd00:96::/48" }],
      };
      const configuration = { cniVersion: "1.0.0", ipam, include_default_routes };
      const added = await call("ADD", at, { configuration });
      ok0(added);
      const [four, six] = added.said.ips as { address: string }[];
      match(four?.address ?? "", /^10\.70\.1\.\d+\/32$/);
      match(six?.address ?? "", /^fd00:70::\S+\/128$/);
      match(ip(at.inside, "route"), /^10\.96\.0\.0\/12 via 169\.254\.1\.1 dev eth0/m);
      match(ip(at.inside, "-6", "route"), /^fd00:96::\/48 via fe80::ecee:eeff:feee:eeee dev eth0/m);
      const defaults = [ip(at.inside, "route"), ip(at.inside, "-6", "route")].map((text) => /^default via/m.test(text));
      deepEqual(defaults, [include_default_routes, include_default_routes]);
      ok0(await call("DEL", at, { configuration }));
      deepEqual([links(at.node), held()], ["", []]);
    });
  }
});
