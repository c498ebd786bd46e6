// The parts that start-up gives the agent, each in a world of its own: tunnel addresses follow pools and the Node, and the end of start-up marks the node once
// the daemons are ready.
import { deepEqual, equal, ok } from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "../../../test/kit/eventually.ts";
import { silentLog, systemClock } from "../../base/lib/index.ts";
import { createMetrics } from "../../base/observe/index.ts";
import { createMemoryDatastore, type Datastore } from "../../calico/datastore/index.ts";
import { openResources } from "../../calico/resources/index.ts";
import type { FeedConsumer, PartWorld } from "../part/index.ts";
import { completeStartup, completeStartupPart, shutDown, tunnelAddressPart } from "./index.ts";

type Report = Parameters<PartWorld["health"]["report"]>[0];

function world(datastore: () => Promise<Datastore>) {
  const consumers = new Set<FeedConsumer>();
  const reports: Report[] = [];
  const given: PartWorld = {
    node: "n1",
    log: silentLog,
    clock: systemClock,
    metrics: createMetrics({ table: {}, labels: {}, clock: systemClock }),
    health: { report: (report) => void reports.push(report) },
    feed: {
      follow(_set, consumer) {
        consumers.add(consumer);
        return { [Symbol.dispose]: () => void consumers.delete(consumer) };
      },
    },
    settings: { raw: () => undefined, onChange: () => ({ [Symbol.dispose]: () => undefined }) },
    datastore,
  };
  const tell = (path: string, value: string | undefined) => {
    for (const consumer of consumers) {
      if (value === undefined) consumer.delete(path);
      else consumer.set(path, value);
      consumer.settled({ inSync: true });
    }
  };
  return { given, reports, tell, consumers };
}

const poolPath = "/calico/v1/ipam/v4/pool/10.50.0.0-24";

test("tunnel addresses follow what the feed tells of pools, survive a failure, and end with the signal", async () => {
  const datastore = createMemoryDatastore({ clock: systemClock });
  const resources = openResources(datastore);
  await datastore.create("Node", { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } });
  let isAway = true;
  const { given, tell, reports, consumers } = world(async () => {
    if (isAway) throw new Error("not there");
    return datastore;
  });
  const stop = new AbortController();
  const running = tunnelAddressPart({ environment: {}, random: () => 0 }).run(given, stop.signal);
  tell("/calico/v1/Ready", "true");
  await eventually(() => reports.some(({ ready, detail }) => ready === false && detail === "not there"), "a failure");
  isAway = false;
  await eventually(() => reports.at(-1)?.ready === true, "another try");
  const address = async () => (await resources.get("Node", { namespace: "", name: "n1" })).spec.ipv4VXLANTunnelAddr;
  equal(await address(), undefined);
  await resources.create("IPPool", { metadata: { name: "v" }, spec: { cidr: "10.50.0.0/24", vxlanMode: "Always" } });
  tell(poolPath, "{}");
  await eventually(async () => String(await address()).startsWith("10.50.0."), "an address");
  await resources.edit("IPPool", { namespace: "", name: "v" }, (pool) =>
    pool === undefined ? "nothing" : { ...pool, spec: { ...pool.spec, disabled: true } },
  );
  tell(poolPath, '{"disabled":true}');
  await eventually(async () => (await address()) === undefined, "no address");
  stop.abort();
  await running;
  equal(consumers.size, 0);
});

test("with addresses from the pod CIDR there is nothing to do", async () => {
  const { given, consumers } = world(() => Promise.reject(new Error("nobody asks")));
  const stop = new AbortController();
  const running = tunnelAddressPart({ environment: { USE_POD_CIDR: "true" } }).run(given, stop.signal);
  equal(consumers.size, 0);
  stop.abort();
  await running;
});

function apiServer(answers: (() => unknown)[]) {
  const patches: { path: string; condition: unknown }[] = [];
  const json = async ({ path, body }: { path: string; body?: unknown }) => {
    const answer = answers.shift();
    if (answer !== undefined) answer();
    const { status } = body as { status: { conditions: readonly [{ status: string; reason: string }] } };
    const [condition] = status.conditions;
    patches.push({ path, condition: [condition.status, condition.reason] });
    return {};
  };
  return { api: { json, open: () => Promise.reject(new Error("not asked for")) }, patches };
}

test("the end of start-up waits for the daemons, marks the node, tries again, and forgets the shutdown", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-complete-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "shutdownTS");
  writeFileSync(file, "2026-01-01T00:00:00Z");
  const refuse = () => {
    throw new Error("not now");
  };
  const { api, patches } = apiServer([refuse]);
  const { given } = world(async () => createMemoryDatastore({}));
  const environment = {
    NODENAME: "n1",
    CALICO_K8S_NODE_REF: "kube/1",
    CALICO_SHUTDOWN_TIMESTAMP_FILE: file,
    CALICO_NODENAME_FILE: join(folder, "nodename"),
  };
  let looks = 0;
  const isReady = async () => {
    looks += 1;
    if (looks === 1) throw new Error("not yet");
  };
  const stop = new AbortController();
  const part = completeStartupPart({ environment, isReady, kubernetesBeside: async () => ({ api }) });
  const running = part.run(given, stop.signal);
  await eventually(() => !existsSync(file), "the file is gone");
  deepEqual(patches, [{ path: "/api/v1/nodes/kube%2F1/status", condition: ["False", "CalicoIsUp"] }]);
  equal(looks, 2);
  stop.abort();
  await running;
});

test("a name file that somebody removes is there again, with the node's name; one that never was is nobody's loss", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-name-file-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "nodename");
  const environment = { CALICO_NETWORKING_BACKEND: "none", CALICO_NODENAME_FILE: file };
  const part = completeStartupPart({ environment, isReady: async () => undefined });
  const stop = new AbortController();
  let looks = 0;
  const clock: typeof systemClock = {
    ...systemClock,
    sleep: async (_ms, signal) => {
      looks += 1;
      await systemClock.sleep(1, signal);
    },
  };
  const { given } = world(async () => createMemoryDatastore({}));
  const running = part.run({ ...given, clock }, stop.signal);
  await eventually(() => looks > 2, "some looks");
  equal(existsSync(file), false);
  writeFileSync(file, "as start-up wrote it");
  const after = looks + 2;
  await eventually(() => looks > after, "a look at the file");
  rmSync(file);
  await eventually(() => existsSync(file), "the file");
  equal(readFileSync(file, "utf8"), "n1");
  stop.abort();
  await running;
});

test("shutdown writes the time first and then marks the node; a node without Calico's network is not marked", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-shutdown-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "shutdownTS");
  const { api, patches } = apiServer([() => ok(existsSync(file))]);
  const around = { clock: systemClock, log: silentLog, signal: new AbortController().signal };
  const kubernetes = async () => ({ api });
  const environment = { NODENAME: "n1", CALICO_SHUTDOWN_TIMESTAMP_FILE: file };
  await shutDown({ ...around, environment, kubernetes });
  deepEqual(patches, [{ path: "/api/v1/nodes/n1/status", condition: ["True", "CalicoIsDown"] }]);
  const policyOnly = { ...environment, CALICO_NETWORKING_BACKEND: "none" };
  await shutDown({ ...around, environment: policyOnly, kubernetes });
  await completeStartup({ ...around, environment: policyOnly, kubernetes });
  equal(patches.length, 1);
});
