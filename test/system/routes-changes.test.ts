// The cluster changes under running traffic: modes, nodes, blocks, MTU. No packet is lost that had a way, and nothing is left behind.
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { openNetlink, openNotifications } from "../../src/base/linux/kernel.ts";
import { readRouteSettings, removeOwnRoutes } from "../../src/node/routes/index.ts";
import { afterTest } from "../kit/after-test.ts";
import { eventually } from "../kit/eventually.ts";
import { noNamespaces } from "../kit/namespace.ts";
import {
  blockPath,
  blockValue,
  endpointPath,
  endpointValue,
  nodePath,
  nodeValue,
  type PoolMode,
} from "../kit/route-nodes/cluster.ts";
import { reaches } from "../kit/route-nodes/network.ts";
import { pingOn } from "../kit/route-nodes/ping-process.ts";
import { kernelRoutes, runRoutes, TestSettings } from "../kit/route-nodes/running.ts";
import {
  allReady,
  type NodeWithPod,
  runAll,
  setMode,
  setNode,
  threeNodes,
  whenRoute,
} from "../kit/route-nodes/three-nodes.ts";

const skip = noNamespaces;
const options = { skip, timeout: 180_000 };

test("modes change under a running ping, both families, and no packet is lost", options, async (t) => {
  const { cluster, nodes, one, two } = await threeNodes("never");
  // They hear of everything one after the other.
  const running = nodes.map(({ node }, i) =>
    afterTest(t).use(runRoutes(node, cluster, { lingerMs: 500, delayMs: i * 20 })),
  );
  await allReady(running);
  const pings = await Promise.all(two.pod.addresses.map((target) => pingOn(t, one.pod.namespace, target)));
  const way: { mode: PoolMode; route: string }[] = [
    { mode: "vxlan", route: "10.99.1.0/26 via 10.99.1.1 dev vxlan.calico" },
    { mode: "vxlan-cross-subnet", route: "10.99.1.0/26 via 172.30.0.2 dev eth0 proto 80" },
    { mode: "vxlan", route: "10.99.1.0/26 via 10.99.1.1 dev vxlan.calico" },
    { mode: "never", route: "10.99.1.0/26 via 172.30.0.2 dev eth0 proto 80" },
  ];
  const hasDevice = async ({ node }: NodeWithPod) => {
    await using netlink = openNetlink(node);
    return (await netlink.link("vxlan.calico")) !== undefined && (await netlink.link("vxlan-v6.calico")) !== undefined;
  };
  for (const { mode, route } of Array.from({ length: 5 }, () => way).flat()) {
    setMode(cluster, mode);
    if (mode !== "never") {
      for (const each of nodes) await eventually(() => hasDevice(each), "no device", 60_000);
    }
    // Who has heard of it gets a tunnel address, or gives it back.
    for (const [i, { node }] of nodes.entries()) setNode(cluster, i, node, mode !== "never");
    for (const { node } of nodes.slice(0, 1)) await whenRoute(node, route);
    await allReady(running);
  }
  await using netlink = openNetlink({ namespace: one.node.namespace });
  await eventually(async () => (await netlink.link("vxlan.calico")) === undefined, "the device stays", 60_000);
  for (const each of pings) {
    const { sent, lost } = await each.stop();
    ok(sent > 50, `${sent} sent`);
    equal(lost, 0, `of ${sent}`);
  }
});

test("an agent that is stopped, and one that starts again, cost a running ping nothing", options, async (t) => {
  const { cluster, nodes, one, three } = await threeNodes("vxlan");
  const running = await runAll(t, nodes, cluster);
  const pinging = await pingOn(t, one.pod.namespace, "10.99.2.5");
  for (let i = 0; i < 10; i++) {
    for (const each of running) await each[Symbol.asyncDispose]();
    running.splice(0, 3, ...nodes.map(({ node }) => afterTest(t).use(runRoutes(node, cluster))));
    await allReady(running);
  }
  const { sent, lost } = await pinging.stop();
  ok(sent > 10, `${sent} sent`);
  equal(lost, 0, `of ${sent} to ${three.node.name}`);
});

test(
  "borrowed addresses have a route of their own, a tunnel address in a third node's block, too",
  options,
  async (t) => {
    const { network, cluster, nodes, one, two } = await threeNodes("vxlan");
    await runAll(t, nodes, cluster);
    // One has an address of three's block for a pod, and two one for its tunnel.
    const pod = await network.addPod(one.node, ["10.99.2.9"]);
    cluster.change({
      [blockPath("10.99.2.0/26")]: blockValue("10.99.2.0/26", "three", { 1: "three", 5: "three", 9: "one", 11: "two" }),
      [endpointPath("one", pod.name)]: endpointValue(pod.interfaceName, pod.addresses),
      [nodePath("two")]: nodeValue({ ...two.node, tunnel: "10.99.2.11", tunnel6: "fd99::1:1" }),
    });
    await whenRoute(two.node, "10.99.2.9/32 via 10.99.0.1 dev vxlan.calico");
    await whenRoute(one.node, `10.99.2.9/32 dev ${pod.interfaceName}`);
    await whenRoute(one.node, "10.99.2.11/32 dev vxlan.calico proto boot mtu 1450");
    await whenRoute(one.node, "10.99.1.0/26 via 10.99.2.11 dev vxlan.calico");
    for (const { node, pod: from } of nodes) {
      if (node !== one.node) ok(await reaches(from, "10.99.2.9"), node.name);
    }
    ok(await reaches(one.node, "10.99.1.5"));
    ok(await reaches(two.node, "10.99.2.5"));
    // Given back: the route goes.
    cluster.change({ [blockPath("10.99.2.0/26")]: blockValue("10.99.2.0/26", "three", { 1: "three", 5: "three" }) });
    await whenRoute(two.node, "10.99.2.9/32", false);
  },
);

test(
  "a node that comes is reached, one that goes is forgotten; a stale block of it does no harm",
  options,
  async (t) => {
    const { network, cluster, nodes, one } = await threeNodes("vxlan");
    const running = await runAll(t, nodes, cluster);
    const node = await network.addNode("four");
    const pod = await network.addPod(node, ["10.99.3.5"]);
    cluster.change({
      [nodePath("four")]: nodeValue({ ...node, tunnel: "10.99.3.1", tunnel6: "fd99::3:1" }),
      [blockPath("10.99.3.0/26")]: blockValue("10.99.3.0/26", "four", { 1: "four", 5: "four" }),
      [endpointPath("four", pod.name)]: endpointValue(pod.interfaceName, pod.addresses),
    });
    const four = afterTest(t).use(runRoutes(node, cluster));
    await allReady([four, ...running]);
    ok(await reaches(one.pod, "10.99.3.5"));
    await using netlink = openNetlink({ namespace: one.node.namespace });
    const index = (await netlink.link("vxlan.calico"))?.index ?? 0;
    const entries = async () =>
      (await netlink.neighbours({ family: "bridge", index })).filter(({ mac }) => mac?.startsWith("66:")).length;
    equal(await entries(), 3);
    cluster.change({ [nodePath("four")]: undefined });
    await whenRoute(one.node, "10.99.3.0/26", false);
    await eventually(async () => (await entries()) === 2, "its entry stays", 60_000);
    // Its block is still there: that is told, and nobody is unready for it.
    await allReady(running);
    ok(running[0]?.health().detail.includes("node four has no IPv4 address"));
  },
);

test(
  "a node whose tunnel address is taken and given again keeps its routes, and has them all in the end",
  options,
  async (t) => {
    const { cluster, nodes, one, three } = await threeNodes("vxlan");
    const running = await runAll(t, nodes, cluster);
    const pinging = await pingOn(t, one.pod.namespace, "10.99.2.5");
    for (const tunnel of [undefined, "10.99.0.7", undefined, "10.99.0.8"]) {
      cluster.change({ [nodePath("one")]: nodeValue({ ...one.node, tunnel, tunnel6: "fd99::1" }) });
      await whenRoute(one.node, "10.99.2.0/26 via 10.99.2.1 dev vxlan.calico");
    }
    // The other end's: as long as the route leads there, where it is stays known.
    for (const tunnel of [undefined, "10.99.2.7", undefined, "10.99.2.1"]) {
      cluster.change({ [nodePath("three")]: nodeValue({ ...three.node, tunnel, tunnel6: "fd99::2:1" }) });
      if (tunnel !== undefined) await whenRoute(one.node, `10.99.2.0/26 via ${tunnel} dev vxlan.calico`);
      else await delay(300);
    }
    await allReady(running);
    const { sent, lost, lostAtMs } = await pinging.stop();
    ok(sent > 50, `${sent} sent`);
    equal(lost, 0, `of ${sent}, after ${lostAtMs.join(", ")} ms`);
    await using netlink = openNetlink({ namespace: one.node.namespace });
    const index = (await netlink.link("vxlan.calico"))?.index ?? 0;
    await eventually(
      async () =>
        (await netlink.addresses({ index, family: "inet" })).map(({ address }) => address).join() === "10.99.0.8/32",
      "the last address",
      60_000,
    );
    await whenRoute(one.node, "10.99.2.0/26 via 10.99.2.1 dev vxlan.calico");
    // Somebody takes the last address away: the kernel takes the routes along, and tells nobody.
    await netlink.change({ do: "delete", address: { index, address: "10.99.0.8/32" } });
    await whenRoute(one.node, "10.99.2.0/26 via 10.99.2.1 dev vxlan.calico");
  },
);

test(
  "a tunnel address that a pod gets while the device still waits for its end is the pod's at once",
  options,
  async (t) => {
    const { network, cluster, nodes, one, two } = await threeNodes("vxlan");
    const running = await runAll(t, nodes, cluster);
    setMode(cluster, "never");
    for (const [i, { node }] of nodes.entries()) setNode(cluster, i, node, false);
    await whenRoute(one.node, "10.99.1.0/26 via 172.30.0.2 dev eth0");
    await using netlink = openNetlink({ namespace: one.node.namespace });
    ok(await netlink.link("vxlan.calico"), "the device is still there");
    const pod = await network.addPod(one.node, ["10.99.0.1"]);
    cluster.change({ [endpointPath("one", pod.name)]: endpointValue(pod.interfaceName, pod.addresses) });
    await whenRoute(one.node, `10.99.0.1/32 dev ${pod.interfaceName}`);
    const isOnHost = async () => (await netlink.addresses()).some(({ address }) => address === "10.99.0.1/32");
    await eventually(async () => !(await isOnHost()), "the node has given it up", 60_000);
    ok(await reaches(two.pod, "10.99.0.1"));
    await allReady(running);
  },
);

test("the host's MTU changes: device, routes and file follow", options, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-mtu-"));
  afterTest(t).defer(() => rmSync(folder, { recursive: true, force: true }));
  const { cluster, one } = await threeNodes("vxlan");
  const mtuFile = join(folder, "mtu");
  const running = afterTest(t).use(runRoutes(one.node, cluster, { mtuFile }));
  await allReady([running]);
  equal(readFileSync(mtuFile, "utf8"), "1430"); // IPv6 has the larger header
  await using netlink = openNetlink({ namespace: one.node.namespace });
  await netlink.change({ do: "edit", link: { link: "eth0", mtu: 1400 } });
  await whenRoute(one.node, "10.99.1.0/26 via 10.99.1.1 dev vxlan.calico proto boot onlink mtu 1350");
  equal((await netlink.link("vxlan.calico"))?.mtu, 1350);
  await eventually(() => readFileSync(mtuFile, "utf8") === "1330", "the file", 60_000);
  running.settings.set("VXLANMTU", "1300");
  await whenRoute(one.node, "10.99.1.0/26 via 10.99.1.1 dev vxlan.calico proto boot onlink mtu 1300");
  setMode(cluster, "never");
  await eventually(() => readFileSync(mtuFile, "utf8") === "1400", "the file", 60_000);
});

test(
  "a block changes hands, and a node its address, under a running ping, and no packet is lost",
  options,
  async (t) => {
    const { cluster, nodes, one, two } = await threeNodes("vxlan");
    const running = await runAll(t, nodes, cluster);
    await using netlink = openNetlink({ namespace: two.node.namespace });
    const device = await netlink.link("vxlan.calico");
    const eth0 = (await netlink.link("eth0"))?.index ?? 0;
    const pings = await Promise.all(two.pod.addresses.map((target) => pingOn(t, one.pod.namespace, target)));
    await using told = openNotifications(["route"], { namespace: one.node.namespace });
    for (let i = 0; i < 10; i++) {
      // The pod stays where it is, and so is a guest in the block that was its node's.
      const owner = i % 2 === 0 ? "three" : "two";
      cluster.change({ [blockPath("10.99.1.0/26")]: blockValue("10.99.1.0/26", owner, { 1: "two", 5: "two" }) });
      await whenRoute(one.node, "10.99.1.5/32 via 10.99.1.1 dev vxlan.calico", owner === "three");
      await whenRoute(one.node, `10.99.1.0/26 via ${owner === "three" ? "10.99.2.1" : "10.99.1.1"} dev vxlan.calico`);
      // The guest's own route comes first, and goes last.
      const all = ["set 10.99.1.5/32", "set 10.99.1.0/26", "deleted 10.99.1.5/32"];
      const expected = owner === "three" ? all.slice(0, 2) : all.slice(1);
      const seen: string[] = [];
      await eventually(
        () => {
          for (const each of told.take()) if ("route" in each) seen.push(`${each.is} ${each.route.destination}`);
          return expected.every((line) => seen.includes(line));
        },
        () => seen.join(),
      );
      deepEqual(
        seen.filter((line) => all.includes(line)),
        expected,
      );
    }
    // The old address stays for as long as others may use it.
    for (const address of ["172.30.0.22/24", "172.30.0.23/24", two.node.address]) {
      if (address !== two.node.address) await netlink.change({ do: "create", address: { index: eth0, address } });
      setNode(cluster, 1, { ...two.node, address }, true);
      const bare = address.split("/")[0] ?? "";
      await eventually(
        async () => (await netlink.link("vxlan.calico"))?.vxlan?.local === bare,
        "the tunnel begins there",
      );
      await allReady(running);
    }
    equal((await netlink.link("vxlan.calico"))?.index, device?.index, "it is the same device all the time");
    for (const each of pings) {
      const { sent, lost } = await each.stop();
      ok(sent > 20, `${sent} sent`);
      equal(lost, 0, `of ${sent}`);
    }
  },
);

test("a device that is another than ours is made anew", options, async (t) => {
  const { cluster, nodes, one } = await threeNodes("vxlan");
  await using netlink = openNetlink({ namespace: one.node.namespace });
  await netlink.change({
    do: "create",
    link: { name: "vxlan.calico", kind: "vxlan", vxlan: { id: 7, port: 4790 }, mac: "66:00:00:00:00:01" },
  });
  const old = await netlink.link("vxlan.calico");
  ok(old);
  await netlink.change({ do: "create", address: { index: old.index, address: "10.1.1.1/24" } });
  const running = await runAll(t, nodes, cluster);
  const now = await netlink.link("vxlan.calico");
  deepEqual(
    [now?.vxlan?.id, now?.vxlan?.port, now?.vxlan?.local, now?.vxlan?.learning],
    [4096, 4789, "172.30.0.1", false],
  );
  ok(await reaches(one.pod, "10.99.1.5"));
  // Another port is a setting: live, on every node.
  for (const each of running) each.settings.set("VXLANPort", "4799");
  await eventually(async () => (await netlink.link("vxlan.calico"))?.vxlan?.port === 4799, "the port stays", 60_000);
  await allReady(running);
  ok(await reaches(one.pod, "10.99.1.5"));
  const index = (await netlink.link("vxlan.calico"))?.index ?? 0;
  const addresses = (await netlink.addresses({ index, family: "inet" })).map(({ address }) => address);
  deepEqual(addresses, ["10.99.0.1/32"]);
});

test("an address that goes to another pod has none of the old one's connections", options, async (t) => {
  const { network, cluster, nodes, one } = await threeNodes("never");
  await runAll(t, nodes, cluster);
  ok(await reaches(one.pod, "10.99.1.5"));
  const { openConntrack } = await import("../../src/base/linux/kernel.ts");
  await using tracker = openConntrack({ namespace: one.node.namespace });
  // Nothing is tracked in a namespace without rules that ask for it; where it is, all of it goes.
  equal(await tracker.forget(["10.99.77.77"]), 0);
  await network.removePod(one.node, one.pod);
  await whenRoute(one.node, "10.99.0.5/32", false);
  const next = await network.addPod(one.node, ["10.99.0.5"]);
  cluster.change({
    [endpointPath("one", one.pod.name)]: undefined,
    [endpointPath("one", next.name)]: endpointValue(next.interfaceName, next.addresses),
  });
  await whenRoute(one.node, `10.99.0.5/32 dev ${next.interfaceName} proto boot metric 1024`);
  ok(await reaches(next, "10.99.1.5"));
});

test(
  "BIRD's routes are left to BIRD, and asked for where they are missing; ours take their place when they may",
  options,
  async (t) => {
    const { cluster, one } = await threeNodes("never");
    await using netlink = openNetlink({ namespace: one.node.namespace });
    const index = (await netlink.link("eth0"))?.index ?? 0;
    const birds = [
      { destination: "10.99.1.0/26", gateway: "172.30.0.2", index, protocol: "bird" as const, metric: 1024 },
      { destination: "10.99.2.0/26", gateway: "172.30.0.254", index, protocol: "bird" as const },
      { destination: "fd99::1:0/122", gateway: "fd30::2", index, protocol: "bird" as const },
      { destination: "10.99.0.0/26", type: "blackhole" as const, protocol: "bird" as const },
    ];
    for (const route of birds) await netlink.change({ do: "create", route });
    // What BIRD has learned: from its session with a router that is in front of two nodes.
    const learned = (destination: string, gateway: string) => ({
      ...{ destination, gateway, from: "Global_172_30_0_254", isOfSession: true, isBest: true },
    });
    const askBird = async () => ({
      4: [learned("10.99.2.0/26", "172.30.0.254")],
      6: [learned("fd99::2:0/122", "fd30::fe")],
    });
    const running = afterTest(t).use(runRoutes(one.node, cluster, { bgp: "bird", askBird }));
    await whenRoute(one.node, "10.99.0.5/32 dev cali1 proto boot metric 1024");
    await eventually(
      () => running.health().detail.includes("fd99::2:0/122"),
      () => running.health().detail,
      60_000,
    );
    equal(running.health().ready, false);
    await netlink.change({
      do: "create",
      route: { destination: "fd99::2:0/122", gateway: "fd30::fe", index, protocol: "bird" },
    });
    await allReady([running]);
    equal((await kernelRoutes(one.node.namespace)).filter((line) => line.includes("proto 80")).length, 0);
    // Another hop than BIRD's, or somebody's route before BIRD's: each is named, and over when it has gone.
    const says = (what: RegExp) =>
      eventually(
        () => !running.health().ready && what.test(running.health().detail),
        () => running.health().detail,
        60_000,
      );
    const hop = (gateway: string) => ({
      ...{ destination: "10.99.2.0/26", gateway, index },
      protocol: "bird" as const,
    });
    await netlink.change({ do: "replace", route: hop("172.30.0.253") });
    await says(/^10\.99\.2\.0\/26: the kernel's route leads to 172\.30\.0\.253, BIRD's to 172\.30\.0\.254/);
    await netlink.change({ do: "replace", route: hop("172.30.0.254") });
    await allReady([running]);
    const before = { destination: "10.99.1.0/26", gateway: "172.30.0.9", index, protocol: "static" as const };
    await netlink.change({ do: "create", route: before });
    await says(/^10\.99\.1\.0\/26: a route that is not ours \(protocol static to 172\.30\.0\.9\) goes before/);
    await netlink.change({ do: "delete", route: before });
    await allReady([running]);
    running.settings.set("ProgramClusterRoutes", "Enabled");
    await whenRoute(one.node, "10.99.2.0/26 via 172.30.1.3 dev eth0 proto 80");
    await whenRoute(one.node, "fd99::1:0/122 via fd30::2 dev eth0 proto 80");
    const seen = await kernelRoutes(one.node.namespace);
    // With a metric it is beside ours, and BIRD's to remove.
    ok(seen.includes("10.99.1.0/26 via 172.30.0.2 dev eth0 proto bird metric 1024"));
    ok(seen.includes("10.99.1.0/26 via 172.30.0.2 dev eth0 proto 80 onlink"));
  },
);

test("removing a node's own leaves everybody else's", options, async (t) => {
  const { cluster, nodes, one } = await threeNodes("vxlan");
  const [running] = await runAll(t, nodes, cluster);
  await running?.[Symbol.asyncDispose]();
  await using netlink = openNetlink({ namespace: one.node.namespace });
  const index = (await netlink.link("eth0"))?.index ?? 0;
  await netlink.change({ do: "create", route: { destination: "192.168.5.0/24", gateway: "172.30.0.2", index } });
  const settings = readRouteSettings(new TestSettings(), "none");
  const removed = await removeOwnRoutes(settings, { namespace: one.node.namespace });
  deepEqual([...removed.devices].sort(), ["vxlan-v6.calico", "vxlan.calico"]);
  deepEqual(removed.refusals, []);
  deepEqual(await kernelRoutes(one.node.namespace), ["192.168.5.0/24 via 172.30.0.2 dev eth0 proto static"]);
});

test("with Ipv6Support off, routes of IPv6 are left alone, and are looked after again with it", options, async (t) => {
  const { cluster, two } = await threeNodes("never");
  const running = afterTest(t).use(runRoutes(two.node, cluster));
  await allReady([running]);
  const [address4 = "", address6 = ""] = two.pod.addresses;
  const has = async (address: string) =>
    (await kernelRoutes(two.node.namespace)).some(
      (line) => line.startsWith(`${address} `) || line.startsWith(`${address}/`),
    );
  await eventually(async () => (await has(address4)) && (await has(address6)), "no routes to the pod", 60_000);
  running.settings.set("Ipv6Support", "false");
  // A change that is seen to have been taken: then the one before it was, too.
  cluster.change({ [endpointPath("two", two.pod.name)]: endpointValue(two.pod.interfaceName, [address6]) });
  await eventually(async () => !(await has(address4)), "the route of IPv4 stays", 60_000);
  equal(await has(address6), true);
  running.settings.set("Ipv6Support", "true");
  cluster.change({ [endpointPath("two", two.pod.name)]: endpointValue(two.pod.interfaceName, [address4]) });
  await eventually(async () => (await has(address4)) && !(await has(address6)), "routes are not looked after", 60_000);
});
