// What policy on a node costs: from a start to the first complete table, from a write to its enforcement, processor and memory, and what
// rules cost packets. `cattail node felix` beside the original's Felix, each following the same Typha, and beside no agent at all.
//   npm run bench:policy -- [--against "calico component felix"] [--scenes start,write,labels,set,throughput] [--rounds 3] [--cattail "node PACKAGE/bin/cattail"]
// Needs root, nft and iperf3. Goals: start and processor at most half of the original's; p50 of a write at most its p50, p99 at most half
// of its p99; memory at most its own; a set of 5,000 networks replaced within a second; throughput at least its own, and flat.
//
// Everything runs in a network and a mount namespace of its own, which this file makes and then starts inside.ts in.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const inside = fileURLToPath(new URL("inside.ts", import.meta.url));
const folders = ["/run/netns", "/var/lib/calico", "/var/run/calico", "/var/log/calico", "/etc/calico", "/run/xtables"];
const prepare = [
  "set -e",
  "mount --make-rprivate /",
  ...folders.map((folder) => `mkdir -p ${folder}; mount -t tmpfs none ${folder}`),
  "mount -t sysfs none /sys",
  "ip link set lo up",
  "ip netns attach bench-node $$",
  'exec "$@"',
].join("\n");
const { status } = spawnSync(
  "unshare",
  ["-n", "-m", "bash", "-c", prepare, "bash", process.execPath, inside, ...process.argv.slice(2)],
  { stdio: "inherit", env: { ...process.env, XTABLES_LOCKFILE: "/run/xtables/lock" } },
);
process.exitCode = status ?? 1;
