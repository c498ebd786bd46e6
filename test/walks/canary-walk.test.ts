// The canary of docs/guide/9-coming-from-calico-typha.md on a real API server: Cattail as a second Deployment behind the Service of
// the servers that run; then it gets a share of the nodes, all of them, and none again. Nodes are connected all the while, and
// what they hold is judged by what was written to the cluster. CATTAIL_ORIGINAL_TYPHA names the command of a calico/typha
// to start from; without it the servers that run are Cattail too.
import { deepEqual, equal, ok } from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { accountConfig } from "../kit/account-config.ts";
import { CalicoNodes, keepWriting, modernNodes } from "../kit/calico-nodes.ts";
import { cattail, probe } from "../kit/cattail-process.ts";
import { clusterPeer, startCluster } from "../kit/cluster.ts";
import { allWell, doctor, doctorFlags, type Findings, findsOnly } from "../kit/doctor-findings.ts";
import { eventually } from "../kit/eventually.ts";
import { canListen, freePort } from "../kit/free-port.ts";
import { withoutGoClient } from "../kit/go-clients.ts";
import { applyObject, deployedEnvironment, findObject, printObjects, untilDefined } from "../kit/manifest-objects.ts";
import { MountedCertificates } from "../kit/mounted-certificates.ts";
import { ToldObjects } from "../kit/told-objects.ts";
import { Fleet, type FleetMember, type FleetServer } from "../kit/typha-fleet.ts";
import type { TyphaEnvironment } from "../kit/typha-settings.ts";

const noAddresses = (await canListen({ port: 0, host: "127.0.0.2" }))
  ? false
  : "127.0.0.2 is no address of this machine";
const skip = (await clusterPeer()).missing ?? (withoutGoClient || noAddresses);

/** Shutting down gradually takes minutes for many nodes; two need no more than seconds. */
const hurried: TyphaEnvironment = {
  TYPHA_WORKERS: "1",
  TYPHA_SHUTDOWNTIMEOUTSECS: "5",
  TYPHA_SHUTDOWNCONNECTIONDROPINTERVALMAXSECS: "0.1",
};
const original = process.env.CATTAIL_ORIGINAL_TYPHA?.split(/\s+/);
const image = ["--image", "registry.example/cattail:0.2.0"];

type Start = { readonly program?: readonly string[]; readonly together: Findings };

test("a canary beside servers of our own", { skip, timeout: 400_000 }, (context) =>
  canary(context, { together: allWell }),
);

test(
  "a canary beside calico/typha",
  {
    skip: original === undefined ? "CATTAIL_ORIGINAL_TYPHA does not name the command of a calico/typha" : skip,
    timeout: 400_000,
  },
  // That they are of different programs is all that the doctor may find: keys, values and revisions are the same.
  (context) =>
    canary(context, { program: original ?? [], together: { code: 1, problems: ["SERVERS_DIFFER_VERSIONS"] } }),
);

async function canary(context: TestContext, { program, together }: Start): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "cattail-canary-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  await using cluster = await startCluster();
  const told = new ToldObjects(cluster);
  const certificates = new MountedCertificates(cluster, folder);
  const running = await printObjects(["manifests", "all", ...image]);
  const beside = ["--name", "cattail-typha", "--behind-service", "calico-typha"];
  const second = await printObjects(["manifests", "all", ...beside, "--replicas", "1", "--nodes", "2", ...image]);
  await using fleet = new Fleet(cluster, { KUBECONFIG: cluster.kubeconfig });
  await using nodes = new CalicoNodes({ servers: () => fleet.listed, tls: certificates.clientFlags }, modernNodes);
  const files = { ...certificates.serverSettings, ...hurried };
  const theirs: FleetMember = {
    environment: { ...deployedEnvironment(running.objects), ...files },
    ...(program === undefined ? {} : { program }),
  };
  const ours: FleetMember = {
    deployment: "cattail-typha",
    environment: { ...deployedEnvironment(second.objects), ...files, KUBECONFIG: join(folder, "kubeconfig") },
  };
  const step = async (name: string, walk: () => Promise<void>) => {
    let isDone = false;
    await context.test(name, async () => {
      await walk();
      isDone = true;
    });
    if (!isDone) throw new Error(`the walk ends at "${name}"; the servers' last words:\n${fleet.lastWords}`);
  };
  /** How many agents follow the servers of a Deployment. */
  const following = (deployment: string) =>
    nodes.agents.filter(({ server }) => server?.startsWith(`${deployment}-`)).length;
  const compare = () => findsOnly(together, doctorFlags(fleet.listed, certificates.clientFlags));
  const drain = async (server: FleetServer) => {
    const writer = keepWriting(told);
    await fleet.drain(server);
    ok((await writer.stop()) > 0);
  };
  const listed = (deployment: string) => fleet.listed.filter(({ name }) => name.startsWith(`${deployment}-`));

  await step("before: two servers, and nodes on both", async () => {
    for (const { node } of modernNodes) await cluster.must("POST", "/api/v1/nodes", { metadata: { name: node } });
    for (const one of running.objects) await applyObject(cluster, one);
    await untilDefined(cluster, running.objects);
    equal((await cattail(["certs", "all", "--dir", join(folder, "certs")])).code, 0);
    await certificates.apply(join(folder, "certs"));
    await fleet.add(theirs);
    await fleet.add(theirs);
    await told.writeRound();
    await nodes.hold(told, "before the canary");
  });

  await step("a canary: the second Deployment is found by the same Service, and nobody moves", async () => {
    const before = nodes.connectionsMade;
    for (const one of second.objects) await applyObject(cluster, one);
    const selector = labelsAt(findObject(running.objects, "Service"), "selector");
    const labels = labelsAt(findObject(second.objects, "Deployment"), "template", "metadata", "labels");
    for (const [label, value] of Object.entries(selector)) equal(labels[label], value);
    const account = await accountConfig(cluster, { name: "cattail-typha", namespace: "kube-system" });
    copyFileSync(account, join(folder, "kubeconfig"));
    const ports = { TYPHA_SERVERPORT: `${await freePort()}`, TYPHA_HEALTHPORT: `${await freePort()}` };
    deepEqual(await doctor([], { ...ours.environment, ...ports }), allWell);
    await fleet.add(ours);
    await compare();
    equal(nodes.connectionsMade, before);
  });

  await step("a share: one of the running servers goes, and some of its nodes come to the canary", async () => {
    await drain(listed("calico-typha")[0] as FleetServer);
    await eventually(() => following("cattail-typha") > 0, "somebody follows the canary");
    await nodes.hold(told, "with a share on the canary");
    ok(following("calico-typha") > 0);
    await compare();
    const [ourServer] = listed("cattail-typha") as [FleetServer];
    const metrics = (await probe(`${ourServer.urls.metrics}/metrics`))?.body ?? "";
    ok(metrics.includes("typha_connections_active"));
    deepEqual(metrics.match(/^cattail_connections_refused_total\{.* [1-9].*$/gm) ?? [], []);
  });

  await step("go on: the last of them goes, and everybody is on Cattail", async () => {
    await fleet.add(ours);
    await drain(listed("calico-typha")[0] as FleetServer);
    await eventually(() => following("cattail-typha") === nodes.agents.length, "all follow Cattail");
    await nodes.hold(told, "with all nodes on Cattail");
    await findsOnly(allWell, doctorFlags(fleet.listed, certificates.clientFlags));
  });

  await step("go back: they are there again, the canary goes, and nobody has missed anything", async () => {
    await fleet.add(theirs);
    await fleet.add(theirs);
    await compare();
    for (const server of listed("cattail-typha")) await drain(server);
    await eventually(() => following("calico-typha") === nodes.agents.length, "all are back");
    await nodes.hold(told, "after going back");
    deepEqual(nodes.wrongDeletions(told), []);
  });
}

/** The map at a path of a printed object's spec. */
function labelsAt({ spec }: { spec?: unknown }, ...path: readonly string[]): { [label: string]: string } {
  // as `cattail manifests` prints it
  return path.reduce((inner, name) => (inner as { [name: string]: unknown })[name], spec) as {
    [label: string]: string;
  };
}
