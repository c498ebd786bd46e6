import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { type Log, silentLog } from "../../base/lib/index.ts";
import type { Processor } from "../convert/index.ts";
import type { FollowEvent, Revision } from "../datastore/index.ts";
import { syncStatus } from "../model/index.ts";
import { createSyncerCore } from "./core.ts";
import { type Feed, feedsOf } from "./feeds.ts";

const set = (name: string, revision: string, value: unknown = {}, origin: "list" | "watch" = "watch"): FollowEvent => ({
  is: "set",
  origin,
  object: { id: { namespace: "", name }, revision: revision as Revision, value }, // any text is a revision
});
const gone = (name: string): FollowEvent => ({ is: "delete", id: { namespace: "", name } });
const status = (to: (typeof syncStatus)[keyof typeof syncStatus]): FollowEvent => ({ is: "status", status: to });

/** Announces /NAME; value "boom" throws, value "bad" breaks a rule. */
const echo: Processor = {
  set: ({ name }, revision, value) => {
    if (value === "boom") throw new TypeError("a bug");
    const kvs = [{ path: `/${name}`, value: JSON.stringify(value), revision, v3ResourceVersion: "" }];
    const problem = { object: `Tier/${name}`, field: "spec", rule: "must be good", effect: "dropped" } as const;
    return { kvs, problems: value === "bad" ? [problem] : [] };
  },
  delete: ({ name }) => ({
    kvs: [{ path: `/${name}`, value: undefined, revision: "", v3ResourceVersion: "" }],
    problems: [],
  }),
};
const feed: Feed = { kind: "Tier", createProcessor: () => echo, syncers: [{ syncer: "felix" }] };
const options = { flavour: "kubernetes", usePodCidr: false, interfacePrefix: "" } as const;

function createCore(feeds: readonly Feed[], log: Log = silentLog) {
  return createSyncerCore({ ...options, feeds, log });
}

test("updates go before the status that covers them, and the status only where it changes", () => {
  const core = createCore([feed]);
  const { resyncInProgress, inSync } = syncStatus;
  const batches = core.apply("Tier", [
    status(resyncInProgress),
    set("a", "1"),
    set("b", "1"),
    status(inSync),
    gone("a"),
  ]);
  deepEqual(
    batches.map(({ updates, status: said }) => said ?? updates.map(({ path }) => path).join()),
    [resyncInProgress, "/a,/b", inSync, "/a"],
  );
  deepEqual(core.apply("Tier", [status(inSync)]), []);
});

test("a syncer gets what it wants of a kind, and shares the rest", () => {
  const wants = (path: string) => path === "/a";
  const core = createCore([
    { ...feed, syncers: [{ syncer: "felix" }, { syncer: "bgp" }, { syncer: "node-status", wants }] },
  ]);
  const batches = core.apply("Tier", [set("a", "1"), set("b", "1")]);
  deepEqual(
    batches.map(({ syncer, updates }) => [syncer, updates.length]),
    [
      ["felix", 2],
      ["bgp", 2],
      ["node-status", 1],
    ],
  );
  equal(batches[0]?.updates, batches[1]?.updates);
});

test("what is always there comes before the kind is in sync, once", () => {
  const constant = [{ path: "/always", value: "1", revision: "1", v3ResourceVersion: "" }];
  const core = createCore([{ ...feed, constant }]);
  const first = core.apply("Tier", [status(syncStatus.inSync)]);
  deepEqual(
    first.map(({ updates, status: said }) => said ?? updates[0]?.path),
    ["/always", syncStatus.inSync],
  );
  deepEqual(core.apply("Tier", [status(syncStatus.inSync)]), []);
});

test("a converter that throws costs its own object and nothing else", () => {
  const errors: string[] = [];
  const core = createCore([feed], { ...silentLog, error: (message) => errors.push(message) });
  const batches = core.apply("Tier", [set("a", "1", "boom"), set("b", "1")]);
  deepEqual(
    batches.flatMap(({ updates }) => updates.map(({ path }) => path)),
    ["/b"],
  );
  deepEqual(errors, ["conversion failed"]);
  equal(core.stats().problems.length, 1);
});

test("a converter that throws takes back what it had said of the object, where it can", () => {
  for (const [canDelete, expected] of [
    [true, ["/a 3"]],
    [false, []],
  ] as const) {
    const fail = () => {
      throw new TypeError("the same bug");
    };
    const processor = canDelete ? echo : { ...echo, delete: fail };
    const core = createCore([{ ...feed, createProcessor: () => processor }]);
    core.apply("Tier", [set("a", "1")]);
    const batches = core.apply("Tier", [set("a", "2", "boom")]);
    deepEqual(
      batches.flatMap(({ updates }) => updates.map(({ path, type }) => `${path} ${type}`)),
      expected,
    );
  }
});

test("a processor is told whether a list or a watch brought the object, also of a kind that is polled in sync", () => {
  const origins: unknown[] = [];
  const noting: Processor = {
    ...echo,
    set: (id, revision, value, origin) => {
      origins.push(origin);
      return echo.set(id, revision, value, origin);
    },
  };
  const core = createCore([{ ...feed, createProcessor: () => noting }]);
  core.apply("Tier", [set("a", "1", {}, "list"), status(syncStatus.inSync)]);
  core.apply("Tier", [set("a", "2", {}, "list"), set("b", "2")]);
  deepEqual(origins, ["list", "list", "watch"]);
});

test("an object that cannot be read is taken back, and named", () => {
  const core = createCore([feed]);
  core.apply("Tier", [set("a", "1")]);
  const unreadable = {
    id: { namespace: "", name: "a" },
    revision: "2" as Revision,
    value: undefined,
    problem: "is not JSON",
  };
  const batches = core.apply("Tier", [{ is: "set", object: unreadable, origin: "watch" }]);
  deepEqual(
    batches.flatMap(({ updates }) => updates.map(({ path, type }) => `${path} ${type}`)),
    ["/a 3"],
  );
  deepEqual(
    core
      .stats()
      .listProblems(10)
      .map(({ object, rule }) => [object, rule]),
    [["Tier/a", "must be readable: is not JSON"]],
  );
});

test("a problem is logged when it appears, not again while it stays, and again when it is back", () => {
  const lines: string[] = [];
  const log = {
    ...silentLog,
    warn: (message: string) => lines.push(message),
    info: (message: string) => lines.push(message),
  };
  const core = createCore([feed], log);
  core.apply("Tier", [set("a", "1", "bad"), set("a", "2", "bad")]);
  core.apply("Tier", [set("a", "3", "fine"), set("a", "4", "bad"), gone("a")]);
  deepEqual(lines, ["object breaks a rule", "object is good again", "object breaks a rule"]);
  deepEqual(core.stats().problems, []);
});

test("each flavour has its table, and USE_POD_CIDR takes IPAM out of Kubernetes'", () => {
  const kindsOf = (flavour: "kubernetes" | "etcdv3", usePodCidr = false) =>
    feedsOf({ flavour, usePodCidr }).map(({ kind }) => kind);
  const ipam = ["IPAMBlock", "BlockAffinity"];
  deepEqual(
    kindsOf("kubernetes").filter((kind) => !kindsOf("kubernetes", true).includes(kind)),
    ipam,
  );
  deepEqual(kindsOf("etcdv3", true), kindsOf("etcdv3"));
  const onlyKubernetes = kindsOf("kubernetes").filter((kind) => !kindsOf("etcdv3").includes(kind));
  const onlyEtcd = kindsOf("etcdv3").filter((kind) => !kindsOf("kubernetes").includes(kind));
  deepEqual(onlyEtcd, ["Profile", "WorkloadEndpoint", "LiveMigration"]);
  deepEqual(onlyKubernetes, [
    "Namespace",
    "ServiceAccount",
    "Pod",
    "KubernetesNetworkPolicy",
    "ClusterNetworkPolicy",
    "Service",
    "EndpointSlice",
    "VirtualMachineInstanceMigration",
  ]);
  for (const flavour of ["kubernetes", "etcdv3"] as const)
    equal(new Set(kindsOf(flavour)).size, kindsOf(flavour).length);
});
