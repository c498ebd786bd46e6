import { deepEqual, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { silentLog } from "../../../base/lib/index.ts";
import { createMemoryDatastore, type Datastore, DatastoreError } from "../../../calico/datastore/index.ts";
import { openResources } from "../../../calico/resources/index.ts";
import type { DataSet, FeedConsumer, FeedState } from "../../part/index.ts";
import { datastoreSource } from "./datastore-source.ts";
import { openFeed } from "./feed.ts";

test("a datastore that stops answering is said to both data sets, and so is that it answers again", async () => {
  const clock = new FakeClock();
  const memory = createMemoryDatastore({ clock });
  await openResources(memory, { clock }).create("IPPool", {
    apiVersion: "projectcalico.org/v3",
    kind: "IPPool",
    metadata: { name: "p" },
    spec: { cidr: "10.0.0.0/16" },
  });
  let isAway = false;
  const refuse = () => Promise.reject(new DatastoreError("unavailable", "nobody answers"));
  const datastore: Datastore = new Proxy(memory, {
    get(target, name) {
      if (name === "get" && isAway) return refuse;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const stop = new AbortController();
  const source = datastoreSource({
    ...{ datastore: async () => datastore, clock, random: () => 0.5, log: silentLog },
    ...{ usePodCidr: false, interfacePrefix: "cali", askEveryMs: 15_000 },
  });
  const feed = openFeed({ sources: [source], clock, random: () => 0.5, log: silentLog, signal: stop.signal });
  const states: { [set in DataSet]: FeedState } = { felix: { inSync: false }, bgp: { inSync: false } };
  const paths = new Set<string>();
  const consumer = (set: DataSet): FeedConsumer => ({
    set: (path) => void paths.add(path),
    delete: (path) => void paths.delete(path),
    settled: (state) => {
      states[set] = state;
    },
  });
  for (const set of ["felix", "bgp"] as const) feed.follow(set, consumer(set));
  // Modules are loaded meanwhile, which no clock of ours hurries.
  await import("../../../calico/syncer/index.ts");
  for (let i = 0; i < 200 && !(states.felix.inSync && states.bgp.inSync); i++) await clock.advance(100);
  deepEqual(states, { felix: { inSync: true }, bgp: { inSync: true } });
  ok([...paths].some((path) => path.includes("/pool/")));

  isAway = true;
  await clock.advance(40_000);
  for (const state of Object.values(states)) match(state.cutOff ?? "", /does not answer: nobody answers/);
  isAway = false;
  await clock.advance(40_000);
  deepEqual(states, { felix: { inSync: true }, bgp: { inSync: true } });
  stop.abort();
  await clock.settle();
});

test("only what somebody follows is listed, and what says whether the datastore is ready; one who follows the rest later gets it", async () => {
  const clock = new FakeClock();
  const listed = new Set<string>();
  const memory = createMemoryDatastore({
    clock,
    intercept: async ({ does, kind }) => {
      if (does === "list") listed.add(kind);
    },
  });
  const stop = new AbortController();
  const source = datastoreSource({
    ...{ datastore: async () => memory, clock, random: () => 0.5, log: silentLog },
    ...{ usePodCidr: false, interfacePrefix: "cali" },
  });
  const feed = openFeed({ sources: [source], clock, random: () => 0.5, log: silentLog, signal: stop.signal });
  const inSync = { felix: false, bgp: false };
  const follow = async (set: DataSet) => {
    feed.follow(set, {
      set: () => undefined,
      delete: () => undefined,
      settled: (state) => {
        inSync[set] = state.inSync;
      },
    });
    for (let i = 0; i < 200 && !inSync[set]; i++) await clock.advance(100);
  };
  await import("../../../calico/syncer/index.ts");
  await follow("bgp");
  const ofBgp = ["BGPConfiguration", "BGPFilter", "BGPPeer", "BlockAffinity", "ClusterInformation", "IPPool", "Node"];
  deepEqual([...listed].sort(), ofBgp);
  deepEqual(inSync, { felix: false, bgp: true });
  await follow("felix");
  deepEqual(inSync, { felix: true, bgp: true });
  ok(listed.has("Pod") && listed.has("NetworkPolicy") && !listed.has("CalicoNodeStatus"));
  stop.abort();
  await clock.settle();
});

test("an object of BGP that breaks a rule arrives: BIRD's half takes of it what makes sense", async () => {
  const clock = new FakeClock();
  const memory = createMemoryDatastore({ clock });
  const spec = { asNumber: 65010, prefixAdvertisements: [{ cidr: "10.0.0.0/8", communities: ["gone"] }] };
  await memory.create("BGPConfiguration", {
    ...{ apiVersion: "projectcalico.org/v3", kind: "BGPConfiguration", metadata: { name: "default" }, spec },
  });
  const stop = new AbortController();
  const source = datastoreSource({
    ...{ datastore: async () => memory, clock, random: () => 0.5, log: silentLog },
    ...{ usePodCidr: false, interfacePrefix: "cali" },
  });
  const feed = openFeed({ sources: [source], clock, random: () => 0.5, log: silentLog, signal: stop.signal });
  const values = new Map<string, string>();
  let inSync = false;
  feed.follow("bgp", {
    set: (path, value) => void values.set(path, value),
    delete: () => undefined,
    settled: (state) => {
      inSync = state.inSync;
    },
  });
  await import("../../../calico/syncer/index.ts");
  for (let i = 0; i < 200 && !inSync; i++) await clock.advance(100);
  match(values.get("/calico/resources/v3/projectcalico.org/bgpconfigurations/default") ?? "", /"asNumber":65010/);
  stop.abort();
  await clock.settle();
});
