import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import {
  affinity,
  block,
  clusterInformation,
  connectionTo,
  handle,
  invocationOn,
  ipamConsole,
  node,
  pod,
  pool,
  service,
} from "../../../../../test/kit/ctl-ipam.ts";
import type { Connection } from "../../connection.ts";
import { run as release } from "../release.ts";
import { run } from "./check.ts";

const held = (id: string, name: string) => ({
  handle_id: id,
  secondary: { node: "n1", namespace: "default", pod: name },
});

/** Sound but for: gone leaked, idle holds nothing, the leaked one has no handle, a stray pod, one outside all pools. */
const cluster = [
  clusterInformation({ datastoreReady: true }),
  pool("p", "10.65.0.0/16"),
  pool("off", "10.66.0.0/24", { disabled: true }),
  node("n1", { IPv4VXLANTunnelAddr: "10.65.1.0" }),
  node("n2"),
  pod("a", { node: "n1", addresses: ["10.65.1.1"] }),
  pod("stray", { node: "n1", addresses: ["10.65.1.40"] }),
  pod("far", { node: "n2", addresses: ["192.168.1.1"] }),
  pod("done", { node: "n2", addresses: ["10.65.1.9"], phase: "Succeeded" }),
  pod("new", { node: "n2", addresses: [] }),
  block("10.65.1.0/26", {
    owner: "host:n1",
    held: {
      0: { handle_id: "vxlan-n1", secondary: { node: "n1", type: "vxlanTunnelAddress" } },
      1: held("k8s.a", "a"),
      2: held("k8s.gone", "gone"),
      3: { releasedAt: "2026-11-16T10:00:00Z" },
      4: held("k8s.new", "new"),
      5: { handle_id: "windows-reserved-ipam-handle" },
    },
  }),
  affinity("n1", "10.65.1.0/26"),
  handle("vxlan-n1", { "10.65.1.0/26": 1 }),
  handle("k8s.a", { "10.65.1.0/26": 1 }),
  handle("k8s.new", { "10.65.1.0/26": 1 }),
  handle("k8s.idle", { "10.65.1.0/26": 1 }),
];

async function checked(connection: Connection, flags: Parameters<typeof invocationOn>[1], isTerminal = false) {
  const console = { ...ipamConsole(), isTerminal };
  const code = await run(invocationOn(connection, { patience: "0s", ...flags }), console);
  return { code, lines: console.lines() };
}

const counts = [
  "Found 1 IPAM blocks.",
  "IPAM blocks record 6 allocations.",
  "Found 1 active IP pools.",
  "Found 1 node tunnel IPs.",
  "No configuration for LoadBalancer kubecontroller found, skipping service check",
  "Found 3 workload IPs.",
  "Workloads and nodes are using 5 IPs.",
  "  n1 has 6 allocations",
  "Node with most allocations has 6; median is 6",
  "Found 1 IPs that are allocated in IPAM but not actually in use.",
  "Found 1 in-use IPs that are not in active IP pools.",
  "Found 1 in-use IPs that are in active IP pools but have no corresponding IPAM allocation.",
  "Found 1 handles with no matching IPs (and 3 handles with matches).",
  "Found 1 handles mentioned in blocks with no matching handle resource.",
  "Found 0 invalid IPAMBlocks.",
  "Check complete; found 4 problems.",
];

test("ipam check: counts what is wrong, without a configuration of controllers, and ends with 0", async () => {
  const { code, lines } = await checked(await connectionTo(cluster), {});
  equal(code, 0);
  for (const count of counts) ok(lines.includes(count), `${count} is missing in ${lines.join("\n")}`);
  equal(lines.at(-1), "Check complete; found 4 problems.");
});

test("ipam check --show-problem-ips: names the addresses and handles that are counted", async () => {
  const { lines } = await checked(await connectionTo(cluster), { "show-problem-ips": "" });
  deepEqual(
    lines.filter((line) => /^ {2}\S+ (leaked|in use|is in use|has multiple|doesn't)/.test(line)),
    [
      "  10.65.1.2 leaked; attrs Main:k8s.gone Extra:namespace=default,node=n1,pod=gone",
      "  192.168.1.1 in use by Workload(default/n2-k8s-far-eth0) is not in any active IP pool.",
      "  10.65.1.40 in use by Workload(default/n1-k8s-stray-eth0) and in active IPAM pool but has no IPAM allocation.",
      "  k8s.gone is in use in a block but doesn't exist.",
    ],
  );
});

test("ipam check --show-all-ips: names also what is as it should be", async () => {
  const { lines } = await checked(await connectionTo(cluster), { "show-all-ips": "" });
  for (const line of [
    "  10.65.1.1 allocated; attrs Main:k8s.a Extra:namespace=default,node=n1,pod=a",
    "  10.65.1.3 allocated; attrs Main:<none> Extra:",
    "  10.65.1.5 belongs to Reserved for Windows",
    "  10.65.1.0 belongs to Node(n1)",
    "  10.65.1.1 belongs to Workload(default/n1-k8s-a-eth0)",
    "  k8s.idle doesn't have any active IPs.",
  ]) {
    ok(lines.includes(line), `${line} is missing in ${lines.join("\n")}`);
  }
});

const balanced = block("10.70.0.0/26", {
  owner: "virtual:load-balancer",
  held: { 1: { handle_id: "lb-web", secondary: { service: "web", namespace: "default", type: "LoadBalancer" } } },
});
const services: { name: string; controllers: object | undefined; service: object; said: string; problems: number }[] = [
  {
    name: "with controllers that give every service an address, its user is known",
    controllers: { assignIPs: "AllServices" },
    service: service("web", "10.70.0.1"),
    said: "Found 1 service load balancer(s).",
    problems: 1,
  },
  {
    name: "a service that did not ask is not counted where only those get one that ask",
    controllers: { assignIPs: "RequestedServicesOnly" },
    service: service("web", "1.2.3.4"),
    said: "Found 0 service load balancer(s).",
    problems: 2,
  },
  {
    name: "without controllers an address that a service has is no leak, all the same",
    controllers: undefined,
    service: service("web", "10.70.0.1"),
    said: "No configuration for LoadBalancer kubecontroller found, skipping service check",
    problems: 1,
  },
  {
    name: "without controllers an address from elsewhere is nobody's business",
    controllers: undefined,
    service: service("other", "1.2.3.4"),
    said: "No configuration for LoadBalancer kubecontroller found, skipping service check",
    problems: 2,
  },
];
for (const { name, controllers, service: given, said, problems } of services) {
  test(`ipam check: ${name}`, async () => {
    const configuration = {
      kind: "KubeControllersConfiguration",
      metadata: { name: "default" },
      spec: { controllers: { loadBalancer: controllers } },
    };
    const idle = handle("k8s.idle", { "10.65.1.0/26": 1 });
    const objects = [balanced, idle, pool("lb", "10.70.0.0/24"), given];
    const connection = await connectionTo(controllers === undefined ? objects : [...objects, configuration]);
    const { lines } = await checked(connection, {});
    ok(lines.includes(said), lines.join("\n"));
    equal(lines.at(-1), `Check complete; found ${problems} problems.`);
  });
}

test("ipam check: what mends each problem is said on a terminal, and to others when they ask", async () => {
  const connection = await connectionTo(cluster);
  const start = "What to do about it:";
  equal((await checked(connection, {})).lines.includes(start), false);
  for (const { lines } of [await checked(connection, {}, true), await checked(connection, { findings: "" })]) {
    const at = lines.indexOf(start);
    ok(at > lines.indexOf("Check complete; found 4 problems."));
    const leak = lines.indexOf("  10.65.1.2 is held for pod default/gone of node n1, and nobody uses it");
    ok(leak > at);
    match(lines[leak + 1] ?? "", /cattail ctl ipam check --fix/);
  }
});

test("ipam check --fix: frees what leaked, deletes what holds nothing, and leaves the rest to a person", async () => {
  const connection = await connectionTo(cluster);
  const { code, lines } = await checked(connection, { fix: "" });
  equal(code, 0);
  match(lines.at(-1) ?? "", /^Fix complete; mended 2, .*2 need a person\.$/);
  const { lines: after } = await checked(connection, { "show-problem-ips": "" });
  ok(after.includes("Found 0 IPs that are allocated in IPAM but not actually in use."));
  ok(after.includes("Found 0 handles with no matching IPs (and 3 handles with matches)."));
  equal(after.at(-1), "Check complete; found 2 problems.");
});

test("ipam check --fix: a leak that is looked at twice and has a user the second time is no leak", async () => {
  const connection = await connectionTo(cluster);
  const console = ipamConsole();
  const out = console.out;
  const comes = pod("gone", { node: "n1", addresses: ["10.65.1.2"] });
  const during: Promise<unknown>[] = [];
  // The pod says its address while the command waits.
  const watching = {
    ...console,
    out: (text: string) => {
      if (text.includes("somebody may be at work")) during.push(connection.datastore.create("Pod", comes));
      out(text);
    },
  };
  await run(invocationOn(connection, { patience: "1s", fix: "" }), watching);
  equal(during.length, 1);
  const { spec } = await connection.resources.get("IPAMBlock", { namespace: "", name: "10-65-1-0-26" });
  ok(Array.isArray(spec.allocations) && spec.allocations[2] !== null);
});

test("ipam check: a time that is none is refused before anything is read", async () => {
  const connection = await connectionTo([]);
  await rejects(checked(connection, { patience: "soon" }), /invalid argument "soon" for "--patience" flag/);
});

test("ipam check: in etcd it says that it needs a kubeconfig", async () => {
  const connection = { ...(await connectionTo([])), type: "etcdv3" } as const;
  const message = "KUBECONFIG environment variable or --kubeconfig parameter not set";
  await rejects(checked(connection, {}), { message });
});

async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "cattail-report-"));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function released(connection: Connection, flags: Parameters<typeof invocationOn>[1]) {
  const console = ipamConsole();
  const code = await release(invocationOn(connection, flags), console);
  return { code, lines: console.lines() };
}

test("a report has the original's fields, its numbers exact, and is what release takes", async () => {
  await inFolder(async (folder) => {
    const connection = await connectionTo([...cluster.slice(1), clusterInformation({ datastoreReady: false })]);
    const file = join(folder, "r.json");
    await checked(connection, { output: file });
    const text = await readFile(file, "utf8");
    match(text, /"sequenceNumber": 1763312345678901230,/);
    const report = JSON.parse(text);
    deepEqual(Object.keys(report), [
      "version",
      "clusterGUID",
      "datastoreLocked",
      "clusterInformationRevision",
      "clusterType",
      "allocations",
      "leakedHandles",
    ]);
    equal(report.datastoreLocked, true);
    const { sequenceNumber: _, ...leaked } = report.allocations["10.65.1.2"][0];
    deepEqual(leaked, {
      ip: "10.65.1.2",
      handle: "k8s.gone",
      pod: "gone",
      namespace: "default",
      node: "n1",
      inUse: false,
      owners: null,
    });
    deepEqual(report.allocations["10.65.1.0"][0].owners, ["Node(n1)"]);
    equal(report.allocations["10.65.1.3"][0].coolingDown, true);
    deepEqual(report.allocations["10.65.1.4"][0].owners, ["Pod(default/new)"]);
    deepEqual(report.allocations["10.65.1.5"][0].owners, ["Reserved for Windows"]);
    deepEqual(
      report.leakedHandles.map(({ ID }: { ID: string }) => ID),
      ["k8s.idle"],
    );

    const { code, lines } = await released(connection, { "from-report": file });
    equal(code, 0);
    deepEqual(lines, [
      "Releasing 1 old IPs...",
      "Released 1 IPs successfully",
      "Deleting 1 handles...",
      "Key: '.' = Deleted OK; 'x' = skip, handle missing/changed.",
      ".",
      "Released 1 handles; 0 skipped; 0 errors.",
      "You may now unlock the data store.",
    ]);
  });
});
