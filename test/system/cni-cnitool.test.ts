// A caller that is not ours: cnitool of the CNI project starts what `cattail cni install` put in place, from the conflist it wrote, and two pods of a
// node reach each other and their node over what the plugin made. IPv4, IPv6, and both.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { runProgram } from "../../src/base/linux/index.ts";
import { ping } from "../../src/base/linux/kernel.ts";
import { cattail } from "../kit/cattail-process.ts";
import { goPeer } from "../kit/go.ts";
import { freshNamespace, noNamespaces } from "../kit/namespace.ts";
import { addPublicPlugins } from "../kit/public-plugins.ts";

const tool = await goPeer("test/peers/cnitool", { package: "github.com/containernetworking/cni/cnitool" });
const folder = mkdtempSync(join(tmpdir(), "cattail-cnitool-"));
const noPortmap = await addPublicPlugins(join(folder, "public"), ["portmap"]);
const skip = noNamespaces || (tool.missing ?? noPortmap ?? false);
after(() => rmSync(folder, { recursive: true, force: true }));

type Family = { readonly name: string; readonly ipam: object; readonly addresses: number };
const families: readonly Family[] = [
  { name: "IPv4", ipam: {}, addresses: 1 },
  { name: "IPv6", ipam: { assign_ipv4: "false", assign_ipv6: "true" }, addresses: 1 },
  { name: "dual stack", ipam: { assign_ipv4: "true", assign_ipv6: "true" }, addresses: 2 },
];

/** A cluster that is a folder: two pods of one node, a pool of each family. */
function makeCluster(objects: string): void {
  mkdirSync(objects, { recursive: true });
  const text = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } },
    { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } },
    ...["p1", "p2"].map((name) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default" },
      spec: { nodeName: "n1" },
    })),
    {
      apiVersion: "projectcalico.org/v3",
      kind: "ClusterInformation",
      metadata: { name: "default" },
      spec: { datastoreReady: true },
    },
    ...[
      ["four", "10.66.0.0/24"],
      ["six", "fd00:66::/112"],
    ].map(([name, cidr]) => ({
      apiVersion: "projectcalico.org/v3",
      kind: "IPPool",
      metadata: { name },
      spec: { cidr },
    })),
  ];
  writeFileSync(join(objects, "cluster.yaml"), text.map((each) => JSON.stringify(each)).join("\n---\n"));
}

async function installed(base: string, objects: string, ipam: object): Promise<{ bin: string; net: string }> {
  const [bin, net] = [join(base, "bin"), join(base, "net.d")];
  const template = {
    name: "k8s-pod-network",
    cniVersion: "1.0.0",
    plugins: [
      {
        type: "calico",
        datastore_type: "directory",
        datastore_directory: objects,
        nodename: "__KUBERNETES_NODE_NAME__",
        nodename_file_optional: true,
        ipam_lock_file: join(base, "ipam.lock"),
        mtu: "__CNI_MTU__",
        ipam: { type: "calico-ipam", ...ipam },
        policy: { type: "k8s" },
      },
      { type: "portmap", snat: true, capabilities: { portMappings: true } },
    ],
  };
  const env = {
    CNI_BIN_DIR: bin,
    CNI_NET_DIR: net,
    KUBERNETES_NODE_NAME: "n1",
    CNI_MTU: "1440",
    CNI_NETWORK_CONFIG: JSON.stringify(template).replace('"__CNI_MTU__"', "__CNI_MTU__"),
  };
  const { code, stdout, stderr } = await cattail(["cni", "install"], { env });
  equal(code, 0, stderr);
  match(stdout, /the CNI plugin is installed/);
  match(stdout, /warning: the network configuration names the plugin portmap/);
  equal(statSync(join(net, "10-calico.conflist")).mode & 0o777, 0o600);
  return { bin, net };
}

for (const { name, ipam, addresses } of families) {
  test(`cnitool plugs two pods in, and they reach each other and their node: ${name}`, {
    skip,
    timeout: 300_000,
  }, async () => {
    const base = mkdtempSync(join(folder, "family-"));
    const objects = join(base, "objects");
    makeCluster(objects);
    const { bin, net } = await installed(base, objects, ipam);
    const node = freshNamespace();
    const pods = [
      { name: "p1", ...pick(freshNamespace()) },
      { name: "p2", ...pick(freshNamespace()) },
    ];
    makeUplink(node.name);
    const tell = async (command: string, pod: (typeof pods)[number]) => {
      const env = {
        PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}`,
        CNI_PATH: `${bin}:${join(folder, "public")}`,
        NETCONFPATH: net,
        CNI_IFNAME: "eth0",
        CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod.name}`,
        HOME: base,
      };
      const words = [command, "k8s-pod-network", pod.path];
      return await runProgram(tool.path ?? "", words, { env, namespace: node.path, limitMs: 120_000 });
    };
    const held: string[][] = [];
    for (const pod of pods) {
      const { stdout } = await tell("add", pod);
      const { ips } = JSON.parse(stdout) as { ips: { address: string }[] };
      held.push(ips.map(({ address }) => address.replace(/\/\d+$/, "")));
    }
    deepEqual(
      held.map((each) => each.length),
      [addresses, addresses],
    );
    for (const pod of pods) await tell("check", pod);
    const isAnswered = async (namespace: string, to: string) =>
      (await ping(to, { namespace, timeoutMs: 5_000 })).received > 0;
    for (const [at, pod] of pods.entries())
      for (const to of held[1 - at] ?? []) ok(await isAnswered(pod.path, to), `${pod.name} to ${to}`);
    for (const to of held.flat()) ok(await isAnswered(node.path, to), `the node to ${to}`);
    for (const [at, pod] of pods.entries())
      for (const own of held[at]?.map((each) => (each.includes(":") ? "fd00:99::1" : "192.0.2.1")) ?? [])
        ok(await isAnswered(pod.path, own), `${pod.name} to its node's ${own}`);
    for (const pod of pods) await tell("del", pod);
    equal(execFileSync("ip", ["-n", node.name, "-o", "link", "show", "type", "veth"], { encoding: "utf8" }), "");
    ok(!/handle_id: "?k8s-pod-network\./.test(everything(objects)), "an address is held still");
  });
}

const pick = ({ name, path }: { name: string; path: string }) => ({ namespace: name, path });

/** A node has an address of its own, a default route, and forwards. */
function makeUplink(namespace: string): void {
  const script =
    "ip link set lo up; ip link add up0 type bridge; ip link set up0 up; ip addr add 192.0.2.1/24 dev up0; ip addr add fd00:99::1/64 dev up0 nodad; " +
    "ip route add default via 192.0.2.254 dev up0 onlink; ip -6 route add default via fd00:99::2 dev up0 onlink; sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1";
  execFileSync("ip", ["netns", "exec", namespace, "sh", "-c", script]);
}

function everything(objects: string): string {
  return (
    execFileSync("find", [objects, "-type", "f", "-exec", "cat", "{}", "+"], { encoding: "utf8" }) +
    readFileSync(join(objects, "cluster.yaml"), "utf8")
  );
}
