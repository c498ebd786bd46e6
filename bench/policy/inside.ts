// The bench itself, in the namespaces that main.ts has made.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { crdManifest, customKinds } from "../../src/calico/kinds/index.ts";
import { startCluster } from "../../test/kit/cluster.ts";
import { installCrds } from "../../test/kit/crds.ts";
import { freePort } from "../../test/kit/free-port.ts";
import { PolicyLab } from "../../test/kit/policy/lab.ts";
import type { ApiObject, PodOfWorld } from "../../test/kit/policy-world.ts";
import { record } from "../../test/kit/record.ts";
import { Agent, type Subject } from "./agents.ts";
import { create, createPod } from "./objects.ts";
import { type Figures, scenes } from "./scenes.ts";

const { values: flags } = parseArgs({
  options: {
    against: { type: "string" },
    scenes: { type: "string", default: Object.keys(scenes).join(",") },
    rounds: { type: "string", default: "3" },
    cattail: { type: "string" },
    sources: { type: "boolean", default: false }, // without --cattail it is always them: main.ts
  },
});
const root = resolve(import.meta.dirname, "../..");
const cattail = flags.cattail?.split(" ") ?? [process.execPath, `${root}/bin/cattail`];
const subjects: readonly Subject[] = [
  { name: "cattail", command: [...cattail, "node", "felix"] },
  ...(flags.against === undefined ? [] : [{ name: "original", command: flags.against.split(" ") }]),
];

const lab = new PolicyLab({ name: "bench-node", path: "/run/netns/bench-node" });
await using cluster = await startCluster();
await installCrds(
  cluster,
  customKinds.map((kind) => crdManifest(kind)),
);
const world: { objects: readonly ApiObject[]; pods: readonly PodOfWorld[] } = JSON.parse(
  readFileSync(`${root}/test/vectors/policy/world.json`, "utf8"),
);
for (const object of world.objects) await create(cluster, object);
for (const pod of world.pods) {
  lab.addPod(pod.namespace, pod.name, pod.ips, pod.node === "node-a");
  await createPod(cluster, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: pod.namespace, name: pod.name, labels: pod.labels ?? {} },
    spec: { nodeName: pod.node, containers: [{ name: "c", image: "none" }], terminationGracePeriodSeconds: 0 },
    status: { phase: "Running", podIP: pod.ips[0], podIPs: pod.ips.map((ip) => ({ ip })) },
  });
}
const typhaPort = await freePort();
const typha = spawn(cattail[0] ?? "", [...cattail.slice(1), "typha"], {
  stdio: "ignore",
  env: {
    ...process.env,
    KUBECONFIG: cluster.kubeconfig,
    TYPHA_DATASTORETYPE: "kubernetes",
    TYPHA_SERVERPORT: String(typhaPort),
    TYPHA_LOGFILEPATH: "none",
    TYPHA_LOGSEVERITYSCREEN: "Error",
    TYPHA_HEALTHENABLED: "false",
    TYPHA_CONNECTIONREBALANCINGMODE: "none",
  },
});
try {
  await sleep(1_000);
  const agents = subjects.map((subject) => new Agent(subject, { cluster, typhaPort }));
  for (const name of flags.scenes.split(",")) {
    const scene = scenes[name];
    if (scene === undefined) throw new Error(`no scene ${name}; there are ${Object.keys(scenes).join(", ")}`);
    const found = await scene({ agents, cluster, lab, rounds: Number(flags.rounds) });
    for (const [subject, figures] of found) say(name, subject, figures);
  }
} finally {
  typha.kill();
  spawnSync("nft", ["flush", "ruleset"]);
  lab[Symbol.dispose]();
}

function say(scene: string, subject: string, figures: Figures): void {
  const texts = Object.entries(figures).map(([name, value]) => `${name} ${Math.round(value * 100) / 100}`);
  console.log(`${scene.padEnd(11)} ${subject.padEnd(9)} ${texts.join(", ")}   (load ${loadavg()[0]?.toFixed(0)})`);
  record({ of: `${scene}, ${subject}`, figures });
}
