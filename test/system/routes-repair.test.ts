// What others undo is done again at once; what is theirs is left alone; what is right is not touched, also by an agent that starts anew.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import {
  type Notification,
  openNetlink,
  openNotifications,
  readSysctl,
  writeSysctl,
} from "../../src/base/linux/kernel.ts";
import { afterTest } from "../kit/after-test.ts";
import { eventually } from "../kit/eventually.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { endpointPath, endpointValue } from "../kit/route-nodes/cluster.ts";
import { kernelRoutes, runRoutes } from "../kit/route-nodes/running.ts";
import { allReady, runAll, threeNodes, whenRoute } from "../kit/route-nodes/three-nodes.ts";

const skip = noNamespaces;
const options = { skip, timeout: 120_000 };
const barMs = 1_000;

test(
  "routes, forwarding entries, neighbours and the device that somebody deletes are back within a second",
  options,
  async (t) => {
    const { cluster, nodes, one } = await threeNodes("vxlan");
    await runAll(t, nodes, cluster);
    await using netlink = openNetlink({ namespace: one.node.namespace });
    const device = await netlink.link("vxlan.calico");
    ok(device);
    await netlink.change({ do: "delete", route: { destination: "10.99.1.0/26" } });
    const route = await whenRoute(one.node, "10.99.1.0/26 via 10.99.1.1 dev vxlan.calico");
    await netlink.change({ do: "delete", route: { destination: "10.99.0.5/32" } });
    const workload = await whenRoute(one.node, "10.99.0.5/32 dev cali");
    await netlink.change({ do: "delete", route: { destination: "10.99.0.0/26" } });
    const blackhole = await whenRoute(one.node, "blackhole 10.99.0.0/26");

    const { index } = device;
    const fdb = async () =>
      (await netlink.neighbours({ family: "bridge", index })).filter(({ mac }) => mac?.startsWith("66:"));
    const arp = async () =>
      (await netlink.neighbours({ family: "inet", index })).filter(({ mac }) => mac?.startsWith("66:"));
    const [entry] = await fdb();
    const [neighbour] = await arp();
    ok(entry?.mac && entry.address && neighbour?.address);
    equal((await fdb()).length, 2);
    await netlink.change({
      do: "delete",
      neighbour: { family: "bridge", index, mac: entry.mac, address: entry.address },
    });
    await netlink.change({ do: "delete", neighbour: { family: "inet", index, address: neighbour.address } });
    const entriesAtMs = performance.now();
    await eventually(async () => (await fdb()).length === 2 && (await arp()).length === 2, "entries", 60_000);
    const entries = performance.now() - entriesAtMs;

    await netlink.change({ do: "delete", link: "vxlan.calico" });
    const whole = await whenRoute(one.node, "10.99.2.0/26 via 10.99.2.1 dev vxlan.calico");
    for (const [what, ms] of Object.entries({ route, workload, blackhole, entries, whole })) {
      ok(ms < barMs, `${what} took ${Math.round(ms)} ms`);
    }
  },
);

test(
  "forwarding that somebody switches off is on again within a second, also of a pod's interface",
  options,
  async (t) => {
    const { cluster, nodes, one } = await threeNodes("never");
    await runAll(t, nodes, cluster);
    const { namespace } = one.node;
    const conf = (key: string) => ["net", "ipv4", "conf", one.pod.interfaceName, key];
    equal(readSysctl("net.ipv4.ip_forward", { namespace }), "1");
    for (const key of ["forwarding", "proxy_arp", "route_localnet"]) equal(readSysctl(conf(key), { namespace }), "1");
    equal(readSysctl(["net", "ipv4", "neigh", one.pod.interfaceName, "proxy_delay"], { namespace }), "0");
    for (const name of ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding", conf("forwarding"), conf("proxy_arp")]) {
      writeSysctl(name, 0, { namespace });
      const beganMs = performance.now();
      await eventually(() => readSysctl(name, { namespace }) === "1", `${name} stays 0`, 60_000);
      ok(performance.now() - beganMs < barMs, String(name));
    }
  },
);

test("foreign routes stay, leftovers of protocol 80 and on pods' interfaces go", options, async (t) => {
  const { cluster, nodes, one } = await threeNodes("vxlan");
  const { namespace } = one.node;
  await using netlink = openNetlink({ namespace });
  const eth0 = (await netlink.link("eth0"))?.index ?? 0;
  const pod = (await netlink.link(one.pod.interfaceName))?.index ?? 0;
  const gateway = "172.30.0.2";
  const foreign = [
    { destination: "10.99.7.0/26", gateway, index: eth0, protocol: "boot" as const },
    { destination: "10.99.8.0/26", gateway, index: eth0, protocol: "static" as const },
    { destination: "10.99.9.0/26", gateway, index: eth0, protocol: "bird" as const },
    { destination: "192.168.0.0/24", gateway, index: eth0, protocol: 99 },
  ];
  const leftovers = [
    { destination: "10.99.10.0/26", gateway, index: eth0, onlink: true, protocol: 80 },
    { destination: "10.99.11.0/26", type: "blackhole" as const, protocol: 80 },
    { destination: "fd99::77:0/122", type: "blackhole" as const, protocol: 80 },
    { destination: "10.99.0.9/32", index: pod, protocol: "boot" as const },
    { destination: "10.99.0.10/32", index: pod, protocol: "static" as const },
  ];
  for (const route of [...foreign, ...leftovers]) await netlink.change({ do: "create", route });
  await runAll(t, nodes, cluster, { graceMs: 200 });
  for (const { destination } of leftovers) {
    const isBlackhole = destination.startsWith("10.99.11.") || destination.startsWith("fd99");
    await whenRoute(one.node, isBlackhole ? `blackhole ${destination}` : destination, false);
  }
  const seen = await kernelRoutes(namespace);
  for (const { destination } of foreign)
    ok(
      seen.some((line) => line.startsWith(destination)),
      destination,
    );
  await netlink.change({
    do: "create",
    route: { destination: "10.99.12.0/26", gateway, index: eth0, onlink: true, protocol: 80 },
  });
  ok((await whenRoute(one.node, "10.99.12.0/26", false)) < barMs);
});

test("with removeExternalRoutes off, others' routes on pods' interfaces stay", options, async (t) => {
  const { cluster, nodes, one } = await threeNodes("never");
  await using netlink = openNetlink({ namespace: one.node.namespace });
  const index = (await netlink.link(one.pod.interfaceName))?.index ?? 0;
  await netlink.change({ do: "create", route: { destination: "10.99.0.9/32", index, protocol: "static" } });
  await netlink.change({ do: "create", route: { destination: "10.99.0.10/32", index, protocol: "boot" } });
  await runAll(t, nodes, cluster, { graceMs: 0, settings: { RemoveExternalRoutes: "false" } });
  await whenRoute(one.node, "10.99.0.10/32", false);
  await whenRoute(one.node, "10.99.0.9/32 dev");
});

test("with RouteSyncDisabled no route is written or removed, until it is off again", options, async (t) => {
  const { cluster, one } = await threeNodes("never");
  await using netlink = openNetlink({ namespace: one.node.namespace });
  const leftover = { destination: "10.99.11.0/26", type: "blackhole" as const, protocol: 80 };
  await netlink.change({ do: "create", route: leftover });
  const before = await kernelRoutes(one.node.namespace);
  const running = afterTest(t).use(
    runRoutes(one.node, cluster, { graceMs: 0, settings: { RouteSyncDisabled: "true" } }),
  );
  await allReady([running]);
  cluster.change({ [endpointPath("one", "gone")]: endpointValue("caligone", ["10.99.0.40"]) });
  await eventually(() => readSysctl("net.ipv4.ip_forward", one.node) === "1", "interfaces are not kept", 60_000);
  deepEqual(await kernelRoutes(one.node.namespace), before);
  running.settings.set("RouteSyncDisabled", "false");
  await whenRoute(one.node, "10.99.1.0/26 via 172.30.0.2 dev eth0 proto 80");
  await whenRoute(one.node, "blackhole 10.99.11.0/26", false);
});

test("a foreign route in the place of ours is left there, and health names it", options, async (t) => {
  const { cluster, nodes, one } = await threeNodes("never");
  await using netlink = openNetlink({ namespace: one.node.namespace });
  const index = (await netlink.link("eth0"))?.index ?? 0;
  const route = { destination: "10.99.1.0/26", gateway: "172.30.0.254", index, protocol: "static" as const };
  await netlink.change({ do: "create", route });
  const running = afterTest(t).use(runRoutes(one.node, cluster));
  await eventually(
    () => running.health().detail.includes("10.99.1.0/26"),
    () => running.health().detail,
    60_000,
  );
  equal(running.health().ready, false);
  ok((await kernelRoutes(one.node.namespace)).includes("10.99.1.0/26 via 172.30.0.254 dev eth0 proto static"));
  await netlink.change({ do: "delete", route });
  await whenRoute(one.node, "10.99.1.0/26 via 172.30.0.2 dev eth0 proto 80");
  await allReady([running]);
  equal(nodes.length, 3);
});

test("a route on a new interface has time until its endpoint is known", options, async (t) => {
  const { network, cluster, one } = await threeNodes("never");
  const running = afterTest(t).use(runRoutes(one.node, cluster, { graceMs: 3_000 }));
  await allReady([running]);
  const late = await network.addPod(one.node, ["10.99.0.20"]);
  const never = await network.addPod(one.node, ["10.99.0.21"]);
  const addedMs = performance.now();
  cluster.change({ [endpointPath("one", late.name)]: endpointValue(late.interfaceName, late.addresses) });
  await whenRoute(one.node, `10.99.0.20/32 dev ${late.interfaceName} proto boot metric 1024`);
  // The plugin's own, without a metric, went when ours was there.
  await eventually(
    async () =>
      (await kernelRoutes(one.node.namespace)).filter((line) => line.startsWith("10.99.0.20/32")).length === 1,
    "two routes to one pod",
    60_000,
  );
  ok(
    (await kernelRoutes(one.node.namespace)).some((line) =>
      line.startsWith(`10.99.0.21/32 dev ${never.interfaceName}`),
    ),
  );
  await whenRoute(one.node, "10.99.0.21/32", false);
  ok(performance.now() - addedMs > 2_500);
});

test("an agent that starts anew changes nothing in the kernel", options, async (t) => {
  const { cluster, nodes, one } = await threeNodes("vxlan");
  const [first] = await runAll(t, nodes, cluster);
  const before = await kernelRoutes(one.node.namespace);
  await first?.[Symbol.asyncDispose]();
  const heard: Notification[] = [];
  const stop = new AbortController();
  const notifications = openNotifications(["link", "address", "route"], { ...one.node, signal: stop.signal });
  const listening = (async () => {
    for await (const notification of notifications) heard.push(notification);
  })();
  const second = afterTest(t).use(runRoutes(one.node, cluster));
  await allReady([second]);
  deepEqual(await kernelRoutes(one.node.namespace), before);
  stop.abort();
  await listening;
  deepEqual(
    heard.map((one) => JSON.stringify(one)),
    [],
  );
});
