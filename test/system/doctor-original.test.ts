// The doctor on nodes that run the original's programs alone (CATTAIL_ORIGINAL_CALICO is the path of its combined program `calico`): start-up, tunnel
// addresses, Felix, and both plugins, on a real API server. Nothing is found where all is well, and each breakage is named as itself.
import { equal, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isRecord } from "../../src/base/lib/index.ts";
import { breakages, type LabKind, wantsOf } from "../../src/programs/lab/breakages/index.ts";
import { givenDatastore } from "../../src/programs/lab/cluster/given-datastore.ts";
import { Lab } from "../../src/programs/lab/cluster/lab.ts";
import { labDoctor } from "../../src/programs/lab/cluster/lab-doctor.ts";
import { startRelay } from "../../src/programs/lab/relay.ts";
import { isWhole } from "../../src/programs/lab/world/index.ts";
import { defaultInstallOptions, manifests } from "../../src/programs/manifests/index.ts";
import { clusterPeer, longLived, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";
import { eventually } from "../kit/eventually.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { isReady, noOriginal, original, originalAgent, originalEnvironment, usePlugins } from "../kit/original-node.ts";

const skip = noNamespaces || (await clusterPeer()).missing || noOriginal;

const only = process.env.CATTAIL_LAB_BREAKAGE;

for (const { name, env, harmless } of [
  { name: "nftables", env: {}, harmless: [] as readonly string[] },
  {
    name: "iptables",
    env: { FELIX_NFTABLESMODE: "Disabled", FELIX_IPTABLESBACKEND: "NFT" },
    // A policy of the chain that it has its own rules in, which come first.
    harmless: ["docker-forward"],
  },
])
  test(`the doctor on the original's nodes, with ${name}`, { skip, timeout: 1_800_000 }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "cattail-original-"));
    mkdirSync(join(folder, "logs"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    await using cluster = await startCluster();
    await installCrds(cluster, manifests("crds", { ...defaultInstallOptions, serviceMonitor: false }));
    const given = await givenDatastore({ kubeconfig: await longLived(cluster) }, folder);
    const { relay } = given;
    ok(relay !== undefined);
    const server = await startRelay({ path: relay.socket }, { host: "127.0.0.1", port: relay.port });
    t.after(() => server.close());
    const agent = { words: originalAgent, env: { ...originalEnvironment, ...env } };
    const options = { folder, nodes: 3, mode: "vxlan", agent, ...given.inside, relay, say: () => undefined } as const;
    await using lab = await Lab.start(options, false);
    const said = (node: string) => readFileSync(join(folder, "logs", `${node}.log`), "utf8").slice(-3000);
    for (const node of lab.world.nodes) {
      usePlugins(node, original ?? "", { isNode: false });
      await eventually(
        () => isReady(node),
        () => `the original's agent on ${node.name} is ready; it said\n${said(node.name)}`,
        120_000,
      );
    }
    await lab.addFirstPods();
    equal((await lab.pingUntilWhole(60_000)).every(isWhole), true, "all pings are answered");
    await found(lab, "", "a healthy cluster");
    const { code, stdout } = await labDoctor(lab, { output: "text", from: "pingtest-1", to: "pingtest-3" });
    equal(code, 0, stdout);

    const kind: LabKind = { mode: "vxlan", isDualStack: false, datastore: "kubernetes" };
    const chosen = breakages.filter((each) => wantsOf(each, kind) === undefined && !harmless.includes(each.name));
    for (const breakage of chosen.filter((each) => only === undefined || new RegExp(only).test(each.name)))
      await t.test(`${breakage.name} is ${breakage.code}, and nothing else`, async () => {
        await breakage.make(lab);
        try {
          await found(lab, breakage.code, breakage.name);
        } finally {
          await breakage.mend(lab);
        }
        await eventually(async () => (await lab.ping()).every(isWhole), `${breakage.name}: mended`, 120_000);
      });
    await found(lab, "", "all is mended");
  });

async function found(lab: Lab, code: string, what: string): Promise<void> {
  let last = "";
  await eventually(
    async () => {
      const { stdout, stderr } = await labDoctor(lab, { output: "json" });
      const read: unknown = JSON.parse(stdout || JSON.stringify({ said: stderr }));
      const findings =
        isRecord(read) && Array.isArray(read.findings) ? read.findings.filter(isRecord) : [{ code: stderr }];
      last = findings.map((each) => `${each.code}: ${each.what}`).join("; ");
      return [...new Set(findings.map((each) => String(each.code)))].join() === code;
    },
    () => `${what}: found ${last || "nothing"}`,
    120_000,
  );
}
