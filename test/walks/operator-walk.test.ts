// The operator's walk of docs/guide/10-operate.md, start to finish, on a real API server: install, verify, rotate, lose the
// API server, lose a server, scale, drain, upgrade, read the metrics. Four nodes with four agents each, old and new, are
// connected all the while. What they hold is judged by what was written to the cluster, never by another agent.
import { deepEqual, equal, ok } from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { accountConfig } from "../kit/account-config.ts";
import { CalicoNodes, keepWriting, nodeNames } from "../kit/calico-nodes.ts";
import { cattail, probe } from "../kit/cattail-process.ts";
import { clusterPeer, startCluster } from "../kit/cluster.ts";
import { allWell, doctor, doctorFlags, findsOnly } from "../kit/doctor-findings.ts";
import { eventually } from "../kit/eventually.ts";
import { canListen, freePort } from "../kit/free-port.ts";
import { GoClients, withoutGoClient } from "../kit/go-clients.ts";
import { applyObject, deployedEnvironment, printObjects, untilDefined } from "../kit/manifest-objects.ts";
import { certificateFlags, MountedCertificates } from "../kit/mounted-certificates.ts";
import { ToldObjects } from "../kit/told-objects.ts";
import { Fleet, type FleetServer } from "../kit/typha-fleet.ts";
import type { TyphaEnvironment } from "../kit/typha-settings.ts";

const noAddresses = (await canListen({ port: 0, host: "127.0.0.2" }))
  ? false
  : "127.0.0.2 is no address of this machine";
const skip = (await clusterPeer()).missing ?? (withoutGoClient || noAddresses);

/** What differs from the Deployment, beside addresses: minutes become seconds, 16 connections are many, and one thread. */
const hurried: TyphaEnvironment = {
  TYPHA_WORKERS: "1",
  TYPHA_K8SSERVICEPOLLINTERVALSECS: "0.5",
  TYPHA_MAXCONNECTIONSLOWERLIMIT: "1",
  TYPHA_CONNECTIONDROPINTERVALSECS: "0.1",
  TYPHA_SHUTDOWNCONNECTIONDROPINTERVALMAXSECS: "0.1",
  TYPHA_STALESERVERTIMEOUTSECS: "15", // an API server may take seconds to answer on a machine that is busy with other tests
};
/** Of four nodes with four data sets each, with three servers: four times (1 + 120 % of 4 / (3 - 1)). */
const shareOfThree = 12;
const connections = 16;

test("an operator replaces calico/typha in a running cluster", { skip, timeout: 400_000 }, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-operator-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  await using cluster = await startCluster();
  const told = new ToldObjects(cluster);
  const certificates = new MountedCertificates(cluster, folder);
  const oldDir = join(folder, "certs");
  const newDir = join(folder, "certs-2");
  // The nodes' pair of the old CA, with a CA file that has both.
  const oldPair = certificateFlags({
    ca: join(oldDir, "typhaca.crt"),
    cert: join(oldDir, "calico-node.crt"),
    key: join(oldDir, "calico-node.key"),
  });
  const { objects } = await printObjects([
    "manifests",
    "all",
    "--image",
    "registry.example/cattail:0.2.0",
    "--replicas",
    "2",
  ]);
  const environment = { ...deployedEnvironment(objects), ...certificates.serverSettings, ...hurried };
  await using fleet = new Fleet(cluster, { ...environment, KUBECONFIG: join(folder, "kubeconfig") });
  await using nodes = new CalicoNodes({ servers: () => fleet.listed, tls: certificates.clientFlags });
  const step = (name: string, walk: () => Promise<void>) =>
    takeStep(context, { name, walk, lastWords: () => fleet.lastWords });
  const clientsOf = async (server: FleetServer) => (await fleet.clients(server)).length;
  const isSpread = async () => {
    const counts = await Promise.all(fleet.listed.map(clientsOf));
    return counts.every((count) => count <= shareOfThree) && sum(counts) === connections;
  };

  await step("install: what is printed is applied, and nothing is missing before the start", async () => {
    for (const name of nodeNames) await cluster.must("POST", "/api/v1/nodes", { metadata: { name } });
    for (const one of objects) await applyObject(cluster, one);
    await untilDefined(cluster, objects);
    await run(["certs", "all", "--dir", oldDir]);
    await certificates.apply(oldDir);
    const account = await accountConfig(cluster, { name: "calico-typha", namespace: "kube-system" });
    copyFileSync(account, join(folder, "kubeconfig"));
    const ports = { TYPHA_SERVERPORT: `${await freePort()}`, TYPHA_HEALTHPORT: `${await freePort()}` };
    deepEqual(await doctor([], { ...environment, ...ports, KUBECONFIG: account }), allWell);
    await Promise.all([fleet.add(), fleet.add()]);
  });

  await step("verify: probes, clients and doctor agree that all is well", async () => {
    for (const server of fleet.listed) {
      equal((await probe(`${server.urls.health}/liveness`))?.status, 200);
      const isReady = async () => /felix-cache .*reporting ready/.test((await fleet.readiness(server))?.body ?? "");
      await eventually(isReady, "the probe says ready");
    }
    await told.writeRound();
    await nodes.hold(told, "after the installation");
    const isComplete = async () => {
      const seen = (await Promise.all(fleet.listed.map((server) => fleet.clients(server)))).flat();
      return seen.length === connections && nodeNames.every((name) => seen.some(({ node }) => node === name));
    };
    await eventually(isComplete, "every node is connected, four times");
    await findsOnly(allWell, doctorFlags(fleet.listed, certificates.clientFlags));
  });

  await step("rotate certificates: renewed under everybody, and nobody is dropped", async () => {
    const before = nodes.connectionsMade;
    await run(["certs", "renew", "--dir", oldDir]);
    await certificates.apply(oldDir);
    await useCertificates(fleet.listed, { dir: oldDir, authorities: 1 });
    for (const server of fleet.listed) await isWelcome(server, certificates.clientFlags);
    await told.writeRound();
    await nodes.hold(told, "after the renewal");
    equal(nodes.connectionsMade, before);
  });

  await step("rotate the CA: both, then the new one's pairs, then the new one alone", async () => {
    const before = nodes.connectionsMade;
    await run(["certs", "all", "--dir", newDir]);
    const authority = {
      old: readFileSync(join(oldDir, "typhaca.crt"), "utf8"),
      new: readFileSync(join(newDir, "typhaca.crt"), "utf8"),
    };
    writeFileSync(join(oldDir, "typhaca.crt"), authority.old + authority.new);
    await certificates.apply(oldDir);
    await useCertificates(fleet.listed, { dir: oldDir, authorities: 2 });
    for (const server of fleet.listed) await isWelcome(server, certificates.clientFlags);

    writeFileSync(join(newDir, "typhaca.crt"), authority.new + authority.old);
    await certificates.apply(newDir);
    await useCertificates(fleet.listed, { dir: newDir, authorities: 2 });
    for (const server of fleet.listed) {
      await isWelcome(server, certificates.clientFlags);
      await isWelcome(server, oldPair);
    }

    writeFileSync(join(newDir, "typhaca.crt"), authority.new);
    await certificates.apply(newDir);
    await useCertificates(fleet.listed, { dir: newDir, authorities: 1 });
    for (const server of fleet.listed) {
      await isWelcome(server, certificates.clientFlags);
      await eventually(async () => !(await welcomes(server, oldPair)), "the old CA's pair is refused");
      const refused = `cattail_connections_refused_total{check="untrusted-ca"}`;
      await eventually(async () => (await fleet.metric(server, refused)) > 0, "the refusal is counted");
    }
    await told.writeRound();
    await nodes.hold(told, "after the new CA");
    equal(nodes.connectionsMade, before);
  });

  await step("lose the API server: everybody stays, the probe tells, and changes arrive when it is back", async () => {
    const before = nodes.connectionsMade;
    await cluster.apiserver.kill();
    for (const server of fleet.listed) {
      const isTold = async () => /datastore .*stale, no healthy peer/.test((await fleet.readiness(server))?.body ?? "");
      await eventually(isTold, "the probe says that the data is old");
      equal((await fleet.readiness(server))?.status, 200);
      ok((await fleet.metric(server, "cattail_datastore_unreachable_seconds")) > 15);
      await isWelcome(server, certificates.clientFlags);
    }
    await nodes.hold(told, "without an API server");
    await cluster.apiserver.start();
    await told.writeRound();
    await nodes.hold(told, "with the API server back");
    for (const server of fleet.listed) {
      const isFresh = async () => !/stale/.test((await fleet.readiness(server))?.body ?? "stale");
      await eventually(isFresh, "the probe forgets the outage");
    }
    deepEqual(nodes.wrongDeletions(told), []);
    equal(nodes.connectionsMade, before);
  });

  await step("lose a server: its clients go to the other one and miss nothing", async () => {
    const [lost, left] = fleet.listed as [FleetServer, FleetServer];
    ok((await clientsOf(lost)) > 0);
    const writer = keepWriting(told);
    await fleet.lose(lost);
    await eventually(async () => (await clientsOf(left)) === connections, "all on the other server");
    ok((await writer.stop()) > 0);
    await nodes.hold(told, "after the loss of a server");
  });

  await step("scale from 1 to 3: the clients are spread", async () => {
    const [first] = fleet.listed as [FleetServer];
    await Promise.all([fleet.add(), fleet.add()]);
    await eventually(isSpread, "no server has more than its share");
    ok((await fleet.metric(first, "typha_connections_dropped")) >= connections - shareOfThree);
    await told.writeRound();
    await nodes.hold(told, "after scaling");
  });

  await step("drain: the clients go one by one, and miss nothing", async () => {
    const counts = await Promise.all(fleet.listed.map(clientsOf));
    const leaving = fleet.listed[counts.indexOf(Math.max(...counts))] as FleetServer;
    const writer = keepWriting(told);
    const { code, tookMs } = await fleet.drain(leaving);
    ok((await writer.stop()) > 0);
    equal(code, 0);
    const [, active] = /ending connections gradually.*activeConnections=(\d+)/.exec(leaving.process.output) ?? [];
    // One of them may have been a probe, which leaves by itself.
    ok(Number(active) > 0 && tookMs >= (Number(active) - 1) * 90, `${tookMs} ms for ${active} connections`);
    await nodes.hold(told, "after the drain");
  });

  await step("upgrade: every server is replaced while changes flow", async () => {
    const writer = keepWriting(told);
    for (const old of [...fleet.listed]) {
      equal((await fleet.drain(old)).code, 0);
      await fleet.add();
    }
    await fleet.add();
    ok((await writer.stop()) > 0);
    await nodes.hold(told, "after the upgrade");
    deepEqual(nodes.wrongDeletions(told), []);
  });

  await step("read the metrics, and what the doctor finds", async () => {
    await eventually(isSpread, "no server has more than its share");
    const felix = nodes.agents[0];
    for (const server of fleet.listed) {
      const metric = (sample: string) => fleet.metric(server, sample);
      await eventually(
        async () => (await metric('typha_cache_size{syncer="felix"}')) === felix?.state.size,
        "cache size",
      );
      const isCounted = async () => (await metric("typha_connections_active")) === (await clientsOf(server));
      await eventually(isCounted, "connections are counted");
      equal(await metric("cattail_datastore_unreachable_seconds"), 0);
      equal(await metric("cattail_recommended_replicas"), 2);
      equal(await metric('cattail_keys{kind="Node"}'), nodeNames.length);
      equal(await metric('cattail_invalid_objects{kind="GlobalNetworkPolicy"}'), 0);
      const days = (await metric('cattail_certificate_expiry_seconds{file="certificate"}')) / 86_400;
      ok(days > 300 && days < 400, `${days} days`);
    }
    await findsOnly(allWell, doctorFlags(fleet.listed, certificates.clientFlags));
    await findsOnly({ code: 2, problems: ["CLIENT_REFUSED"] }, doctorFlags(fleet.listed.slice(0, 1), oldPair));
  });
});

type Step = { name: string; walk: () => Promise<void>; lastWords: () => string };

/** A step that fails ends the walk: those after it would only fail for the same reason. */
async function takeStep(context: TestContext, { name, walk, lastWords }: Step): Promise<void> {
  let isDone = false;
  await context.test(name, async () => {
    await walk();
    isDone = true;
  });
  if (!isDone) throw new Error(`the walk ends at "${name}"; the servers' last words:\n${lastWords()}`);
}

async function run(parameters: readonly string[]): Promise<void> {
  const { code, stderr } = await cattail(parameters);
  equal(code, 0, stderr);
}

const untilInSync = ["--hostname", "newcomer", "--until-in-sync", "--timeout", "120s"];

function isWelcome(server: FleetServer, tls: readonly string[]): Promise<void> {
  return eventually(() => welcomes(server, tls), `a client is welcome to ${server.name}`);
}

/** Whether a client with these files gets in and in sync. */
async function welcomes(server: FleetServer, tls: readonly string[]): Promise<boolean> {
  const target = ["--server", `${server.host}:${server.port}`, ...tls];
  await using client = new GoClients({ address: server }, [...target, ...untilInSync]);
  return (await client.exited) === 0;
}

type CertsAnswer = { certificate: { serial: string }; authorities: unknown[]; refused: unknown };

/** Waits until the servers use the pair of the folder, and trust so many CAs. */
async function useCertificates(
  servers: readonly FleetServer[],
  to: { dir: string; authorities: number },
): Promise<void> {
  const { serialNumber } = new X509Certificate(readFileSync(join(to.dir, "typha.crt")));
  for (const server of servers) {
    let seen = "";
    const isInUse = async () => {
      seen = (await probe(`${server.urls.debug}/certs`))?.body ?? "";
      if (seen === "") return false;
      const { certificate, authorities, refused } = JSON.parse(seen) as CertsAnswer; // docs/reference/debug-endpoints.md
      const isSame = BigInt(`0x${certificate.serial.replaceAll(":", "")}`) === BigInt(`0x${serialNumber}`);
      return isSame && authorities.length === to.authorities && refused === null;
    };
    await eventually(isInUse, () => `${server.name} uses serial ${serialNumber}: ${seen}`);
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
