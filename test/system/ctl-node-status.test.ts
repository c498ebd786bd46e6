// ctl node status beside real BIRDs: two of them in namespaces of their own, which speak BGP with each other, and a node's health port instead of
// a process of a known name.
import { equal, match } from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

const repository = resolve(import.meta.dirname, "../..");

function missing(): string | false {
  if (process.getuid?.() !== 0) return "needs root, to make namespaces";
  try {
    execFileSync("bird", ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    return "needs BIRD (the program bird)";
  }
}

const bird = (own: string, peer: string, six: { own: string; peer: string }) => `
router id ${own};
protocol device {}
template bgp peers { local as 64512; multihop; strict bind yes; connect delay time 1; connect retry time 1; ipv4 { import all; }; ipv6 { import all; }; }
protocol bgp Mesh_${peer.replaceAll(".", "_")} from peers { source address ${own}; neighbor ${peer} as 64512; }
protocol bgp Global_192_0_2_77 from peers { source address ${own}; neighbor 192.0.2.77 as 64512; }
protocol bgp Node_${six.peer.replaceAll(":", "_")} from peers { source address ${six.own}; neighbor ${six.peer} as 64512; }
`;

const [a, b] = ["172.30.0.11", "172.30.0.12"];
const [a6, b6] = ["fd00:30::11", "fd00:30::12"];

/** The first of its process namespace: with it, everything that it started goes. */
const script = `
set -e
mount -t tmpfs none /run
mkdir -p /run/calico /run/other
ip link set lo up
for address in ${a}/24 ${b}/24; do ip address add $address dev lo; done
for address in ${a6}/64 ${b6}/64; do ip address add $address dev lo nodad; done
bird -c a.conf -s /run/calico/bird.ctl -P /run/calico/bird.pid
bird -c b.conf -s /run/other/bird.ctl -P /run/other/bird.pid
"$NODE" -e 'require("node:http").createServer((_, answer) => answer.writeHead(204).end()).listen(18099, "127.0.0.1")' &
for attempt in $(seq 100); do
  FELIX_HEALTHPORT=18099 "$NODE" "$MAIN" ctl node status > out 2> err && [ "$(grep -c Established out)" = 2 ] && break
  sleep 0.2
done
cat out err
`;

test("node status reads a real BIRD 2, of both families, and finds the node by its health port", {
  skip: missing(),
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-bird-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "a.conf"), bird(a, b, { own: a6, peer: b6 }));
  writeFileSync(join(folder, "b.conf"), bird(b, a, { own: b6, peer: a6 }));
  const isolation = ["-m", "-n", "-p", "-f", "--mount-proc", "--kill-child"];
  const env = { ...process.env, NODE: process.execPath, MAIN: `${repository}/src/programs/main/main.ts` };
  const child = spawn("unshare", [...isolation, "sh", "-c", script], { cwd: folder, env });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += String(data)));
  const code = await new Promise((ended) => child.on("close", ended));
  equal(code, 0, said);
  match(said, /^Calico process is running\.\n\nIPv4 BGP status\n\+---/);
  match(said, /\| 172\.30\.0\.12 +\| node-to-node mesh +\| up +\| \S+ +\| Established +\|/);
  match(said, /\| 192\.0\.2\.77 +\| global +\| start +\| \S+ +\| \w+/);
  match(said, /IPv6 BGP status\n\+---(.*\n)+\| fd00:30::12 +\| node specific +\| up +\| \S+ +\| Established/);
});
