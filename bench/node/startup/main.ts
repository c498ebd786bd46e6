// What start-up and a probe take on a cluster where everything exists already: the clock on the wall, CPU and the most memory at once, next to the
// original's calico-node where one is given.
//   npm run bench:node-startup -- [--against "calico component node"] [--rounds 9] [--sources]
// Measured is what npm installs, or with --sources this checkout; they take turns. Needs root, because the original reads /var/lib/calico.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { crdManifest, customKinds } from "../../../src/calico/kinds/index.ts";
import { clusterPeer, startCluster } from "../../../test/kit/cluster.ts";
import { installCrds } from "../../../test/kit/crds.ts";
import { freePort } from "../../../test/kit/free-port.ts";
import { record } from "../../../test/kit/record.ts";
import { median } from "../../median.ts";
import { makePackage } from "../../start/as-package.ts";
import { type CommandUse, useOfCommand } from "../../start/use-of-command.ts";

const { values: flags } = parseArgs({
  options: {
    against: { type: "string" },
    rounds: { type: "string", default: "9" },
    sources: { type: "boolean", default: false },
  },
});

const peer = await clusterPeer();
if (peer.path === undefined) throw new Error(`no API server to measure with: ${peer.missing}`);
using built = flags.sources ? undefined : await makePackage();
const subjects: { readonly who: string; readonly command: readonly string[] }[] = [
  { who: "cattail", command: [process.execPath, join(resolve(built?.folder ?? "."), "bin/cattail"), "node"] },
  ...(flags.against === undefined ? [] : [{ who: "original", command: flags.against.split(/\s+/) }]),
];
const home = mkdtempSync(join(tmpdir(), "cattail-bench-startup-"));
await using cluster = await startCluster();
await installCrds(
  cluster,
  customKinds.map((kind) => crdManifest(kind)),
);
await cluster.must("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } });
const port = await freePort();
const agent = createServer((_request, response) => response.end()).listen(port, "127.0.0.1");
const nameFile = join(home, "nodename");
writeFileSync(nameFile, "n1");
const env = {
  PATH: process.env.PATH,
  HOME: home,
  DATASTORE_TYPE: "kubernetes",
  KUBECONFIG: cluster.kubeconfig,
  NODENAME: "n1",
  IP: "autodetect",
  CALICO_NETWORKING_BACKEND: "bird",
  CLUSTER_TYPE: "k8s,bgp",
  CALICO_DISABLE_FILE_LOGGING: "true",
  FELIX_IPV6SUPPORT: "false",
  CALICO_NODENAME_FILE: nameFile,
  FELIX_HEALTHPORT: `${port}`,
  FELIX_HEALTHHOST: "127.0.0.1",
};
console.log(`load average ${loadavg()[0]?.toFixed(1)}`);
for (const [what, words] of [
  ["start-up, everything exists", ["startup"]],
  ["health --felix-ready", ["health", "--felix-ready"]],
] as const) {
  const uses = new Map<string, CommandUse[]>();
  // The first run of each makes what is missing and fills caches, and does not count.
  for (let round = 0; round <= Number(flags.rounds); round += 1) {
    for (const { who, command } of subjects) {
      const use = await useOfCommand([...command, ...words], env);
      if (round > 0) uses.set(who, [...(uses.get(who) ?? []), use]);
    }
  }
  for (const [who, seen] of uses) {
    const of = (each: (use: CommandUse) => number) => median(seen.map(each));
    const figures = {
      wallMs: of(({ wallMs }) => wallMs),
      cpuMs: of(({ cpuMs }) => cpuMs),
      peakRssMb: of(({ peakRssMb }) => peakRssMb),
    };
    const { wallMs, cpuMs, peakRssMb } = figures;
    console.log(
      `${what.padEnd(30)} ${who.padEnd(9)} ${wallMs.toFixed(0)} ms wall, ${cpuMs.toFixed(0)} ms CPU, ${peakRssMb.toFixed(0)} MB`,
    );
    record({ of: `${what}, ${who}`, figures });
  }
}
console.log(`load average ${loadavg()[0]?.toFixed(1)}`);
agent.close();
rmSync(home, { recursive: true, force: true });
