// What policy on a node costs: from a start to the first complete table, from a write to its enforcement, processor and memory, and what
// rules cost packets. `cattail node felix` beside the original's Felix, each following the same Typha, and beside no agent at all.
//   npm run bench:policy -- [--against "calico component felix"] [--scenes start,write,labels,set,throughput] [--rounds 3] [--sources] [--cattail "node PACKAGE/bin/cattail"]
// Measured is what npm installs, or with --sources this checkout. Needs root, nft and, for throughput, iperf3. Goals: start and processor at most half of the original's; p50 of a write at most its p50, p99 at most half
// of its p99; memory at most its own; a set of 5,000 networks replaced within a second; throughput at least its own, and flat.
//
// Everything runs in a network and a mount namespace of its own, which this file makes and then starts inside.ts in.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makePackage } from "../start/as-package.ts";

const words = process.argv.slice(2);
const isGiven = words.some((word) => ["--sources", "--cattail"].includes(word.replace(/=.*/, "")));
using built = isGiven ? undefined : await makePackage();
const cattail = built === undefined ? [] : ["--cattail", `${process.execPath} ${join(built.folder, "bin/cattail")}`];
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
  ["-n", "-m", "bash", "-c", prepare, "bash", process.execPath, inside, ...words, ...cattail],
  { stdio: "inherit", env: { ...process.env, XTABLES_LOCKFILE: "/run/xtables/lock" } },
);
process.exitCode = status ?? 1;
