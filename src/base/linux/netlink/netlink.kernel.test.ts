// Against the kernel itself, in namespaces of the test's own: what we make `ip` shows, what `ip` makes we show.
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { freshNamespace, noNamespaces } from "../../../../test/kit/namespace.ts";
import { type KernelChange, kernelErrno, openNamespace, openNetlink, openNotifications } from "../kernel.ts";
import type { Netlink } from "./netlink.ts";
import type { Notification, Notifications } from "./notifications.ts";

const skip = noNamespaces;

type Json = { readonly [field: string]: unknown };
const ip = (namespace: string, ...args: string[]): Json[] =>
  JSON.parse(execFileSync("ip", ["-n", namespace, "-j", "-d", ...args], { encoding: "utf8" }) || "[]");
const bridge = (namespace: string, ...args: string[]): Json[] =>
  JSON.parse(execFileSync("bridge", ["-n", namespace, "-j", ...args], { encoding: "utf8" }) || "[]");
const pick = (from: Json | undefined, ...names: string[]): Json =>
  Object.fromEntries(names.filter((name) => from?.[name] !== undefined).map((name) => [name, from?.[name]]));

async function indexOf(netlink: Netlink, name: string): Promise<number> {
  const found = (await netlink.links()).find((link) => link.name === name);
  ok(found, `no link ${name}`);
  return found.index;
}

/** A namespace with a bridge that has addresses, and a netlink in it. */
async function bridged(): Promise<{ name: string; path: string; netlink: Netlink; index: number }> {
  const { name, path } = freshNamespace();
  const netlink = openNetlink({ namespace: path });
  await netlink.change({ do: "edit", link: { link: "lo", up: true } });
  await netlink.change({ do: "create", link: { name: "br0", kind: "bridge", up: true, mac: "ee:ee:ee:ee:ee:01" } });
  const index = await indexOf(netlink, "br0");
  await netlink.change({ do: "create", address: { index, address: "10.0.0.1/24" } });
  await netlink.change({ do: "create", address: { index, address: "fd00::1/64", flags: ["nodad"] } });
  return { name, path, netlink, index };
}

test("links: made, changed, renamed, moved and deleted as ip shows it", { skip }, async () => {
  const [one, two] = [freshNamespace(), freshNamespace()];
  await using netlink = openNetlink({ namespace: one.path });
  await using beyond = openNetlink({ namespace: two.path });
  using there = openNamespace(two.path);
  const veth: KernelChange = {
    do: "create",
    link: {
      name: "veth0123456789a",
      kind: "veth",
      mtu: 1400,
      mac: "ee:ee:ee:ee:ee:ee",
      up: true,
      peer: { name: "eth0", namespaceFd: there.fd, mtu: 1400 },
    },
  };
  await netlink.change(veth);
  await netlink.change({ do: "edit", link: { link: "veth0123456789a", alias: "to a pod" } });
  await beyond.change({ do: "edit", link: { link: "eth0", up: true } });
  const [shown] = ip(one.name, "link", "show", "veth0123456789a");
  deepEqual(pick(shown, "mtu", "address", "ifalias", "operstate"), {
    mtu: 1400,
    address: "ee:ee:ee:ee:ee:ee",
    ifalias: "to a pod",
    operstate: "UP",
  });
  deepEqual(pick(ip(two.name, "link", "show", "eth0")[0], "mtu", "operstate"), { mtu: 1400, operstate: "UP" });
  const link = (await netlink.links()).find(({ name }) => name === "veth0123456789a");
  deepEqual(pick(link, "kind", "isUp", "operState", "mtu", "mac", "alias"), {
    kind: "veth",
    isUp: true,
    operState: "up",
    mtu: 1400,
    mac: "ee:ee:ee:ee:ee:ee",
    alias: "to a pod",
  });
  equal(link?.parent, await indexOf(beyond, "eth0"));

  await netlink.change({ do: "create", link: { name: "br0", kind: "bridge" } });
  const master = await indexOf(netlink, "br0");
  await netlink.change({ do: "edit", link: { link: link?.index ?? 0, up: false } });
  await netlink.change({ do: "edit", link: { link: link?.index ?? 0, newName: "port", master, mtu: 1300 } });
  deepEqual(
    (await netlink.links({ master })).map(({ name, mtu }) => ({ name, mtu })),
    [{ name: "port", mtu: 1300 }],
  );
  deepEqual(
    (await netlink.links({ kind: "bridge" })).map(({ name }) => name),
    ["br0"],
  );
  equal(ip(one.name, "link", "show", "port")[0]?.master, "br0");
  await netlink.change({ do: "edit", link: { link: "port", master: 0 } });
  await netlink.change({ do: "edit", link: { link: "port", namespaceFd: there.fd } });
  deepEqual((await beyond.links()).map(({ name }) => name).sort(), ["eth0", "lo", "port"]);
  await beyond.change({ do: "delete", link: "port" });
  deepEqual(
    (await beyond.links()).map(({ name }) => name),
    ["lo"],
  );
});

test("a VXLAN device and its forwarding entries", { skip }, async () => {
  const { name, netlink, index: parent } = await bridged();
  await using _closing = netlink;
  const vxlan = { id: 4096, port: 4789, local: "10.0.0.1", parent, learning: false, udpChecksum: true };
  await netlink.change({
    do: "create",
    link: { name: "vxlan.test", kind: "vxlan", mtu: 1450, up: true, mac: "66:66:66:66:66:66", vxlan },
  });
  const [shownLink = {}] = ip(name, "link", "show", "vxlan.test");
  const data = (shownLink.linkinfo as Json).info_data as Json;
  deepEqual(pick(data, "id", "port", "local", "link", "learning", "udp_csum"), {
    id: 4096,
    port: 4789,
    local: "10.0.0.1",
    link: "br0",
    learning: false,
    udp_csum: true,
  });
  const seen = (await netlink.links({ kind: "vxlan" }))[0];
  deepEqual(pick(seen?.vxlan, ...Object.keys(vxlan)), vxlan);
  const index = seen?.index ?? 0;
  const entry = { family: "bridge", index, address: "10.0.0.9", mac: "66:00:00:00:00:09" } as const;
  await netlink.change({ do: "create", neighbour: entry });
  await netlink.change({ do: "append", neighbour: { ...entry, mac: "00:00:00:00:00:00", address: "10.0.0.10" } });
  await netlink.change({ do: "append", neighbour: { ...entry, mac: "00:00:00:00:00:00", address: "10.0.0.11" } });
  const shown = bridge(name, "fdb", "show", "dev", "vxlan.test").map((each) => `${each.mac} ${each.dst}`);
  const listed = (await netlink.neighbours({ family: "bridge", index })).map(({ mac, address }) => `${mac} ${address}`);
  deepEqual(listed.sort(), shown.sort());
  equal(listed.length, 3);
  await netlink.change({ do: "delete", neighbour: entry });
  equal((await netlink.neighbours({ family: "bridge", index })).length, 2);
});

test("addresses as ip shows them", { skip }, async () => {
  const { name, netlink, index } = await bridged();
  await using _closing = netlink;
  await netlink.change({
    do: "create",
    address: { index, address: "10.1.0.1/24", broadcast: "10.1.0.255", label: "br0:x", flags: ["noprefixroute"] },
  });
  await netlink.change({ do: "create", address: { index, address: "10.2.0.1/32", peer: "10.2.0.2", scope: "link" } });
  await rejects(netlink.change({ do: "create", address: { index, address: "10.1.0.1/24" } }), (error) => {
    equal(kernelErrno(error), "EEXIST");
    return true;
  });
  await netlink.change({ do: "replace", address: { index, address: "10.1.0.1/24", scope: "site" } });
  const [shownLink = {}] = ip(name, "addr", "show", "br0");
  const shown = (shownLink.addr_info as Json[]).map(
    (each) => `${each.local}/${each.prefixlen} ${each.scope} ${each.address ?? ""}`,
  );
  const listed = (await netlink.addresses({ index })).map(
    ({ address, scope, peer }) => `${address} ${scope} ${peer ?? ""}`,
  );
  deepEqual(listed.sort(), shown.sort());
  ok(
    (await netlink.addresses({ index })).some(
      ({ address, flags }) => address === "fd00::1/64" && flags.includes("nodad"),
    ),
  );
  await netlink.change({ do: "delete", address: { index, address: "10.1.0.1/24" } });
  ok(!(await netlink.addresses({ family: "inet", index })).some(({ address }) => address === "10.1.0.1/24"));
});

test("routes of every kind, as ip shows them", { skip }, async () => {
  const { name, netlink, index } = await bridged();
  await using _closing = netlink;
  const routes: KernelChange[] = [
    { do: "create", route: { destination: "192.168.0.0/26", gateway: "10.0.0.7", protocol: 80, source: "10.0.0.1" } },
    { do: "create", route: { destination: "192.168.1.0/26", gateway: "172.16.0.1", index, onlink: true } },
    { do: "create", route: { destination: "192.168.2.0/26", type: "blackhole", protocol: 80 } },
    { do: "create", route: { destination: "192.168.3.0/26", type: "unreachable", metric: 7 } },
    { do: "create", route: { destination: "192.168.4.0/26", type: "throw", table: 1000 } },
    { do: "create", route: { destination: "192.168.5.1/32", index, scope: "link", mtu: 1400 } },
    { do: "create", route: { destination: "10.9.9.9/32", type: "local", index, table: 255 } },
    {
      do: "create",
      route: {
        destination: "192.168.6.0/26",
        hops: [
          { gateway: "10.0.0.7", index },
          { gateway: "10.0.0.8", index, weight: 3 },
        ],
      },
    },
    { do: "create", route: { destination: "0.0.0.0/0", gateway: "10.0.0.254" } },
    { do: "create", route: { destination: "fd01::/64", gateway: "fd00::7", protocol: 80 } },
    { do: "create", route: { destination: "fd02::/64", type: "blackhole" } },
    { do: "create", route: { destination: "::/0", gateway: "fd00::fe", index } },
  ];
  const outcomes = await netlink.changeAll(routes);
  deepEqual(
    outcomes.map(({ is }) => is),
    routes.map(() => "done"),
    JSON.stringify(outcomes),
  );
  const words = (r: Json): string =>
    [
      r.type ?? "unicast",
      r.dst,
      r.gateway,
      r.metric,
      r.prefsrc,
      (r.flags as string[] | undefined)?.includes("onlink"),
    ].join(" ");
  for (const family of ["inet", "inet6"] as const) {
    const shown = ip(name, family === "inet" ? "-4" : "-6", "route", "show", "table", "all").map((route) =>
      words({ ...route, flags: (route.flags as string[]).filter((flag) => flag === "onlink") }),
    );
    const listed = (await netlink.routes({ family })).map((route) =>
      words({
        ...route,
        dst: asShown(route.destination),
        prefsrc: route.source,
        flags: route.onlink ? ["onlink"] : [],
      }),
    );
    deepEqual(listed.sort(), shown.sort());
  }
  const several = (await netlink.routes({ table: 254 })).find(({ destination }) => destination === "192.168.6.0/26");
  deepEqual(several?.hops, [
    { index, weight: 1, gateway: "10.0.0.7" },
    { index, weight: 3, gateway: "10.0.0.8" },
  ]);
  deepEqual(
    (await netlink.routes({ protocol: 80 })).map(({ destination }) => destination),
    ["192.168.0.0/26", "192.168.2.0/26", "fd01::/64"],
  );
  deepEqual(
    (await netlink.routes({ table: 1000 })).map(({ type }) => type),
    ["throw"],
  );
  await netlink.change({ do: "replace", route: { destination: "192.168.0.0/26", gateway: "10.0.0.8" } });
  equal(ip(name, "route", "show", "192.168.0.0/26")[0]?.gateway, "10.0.0.8");
  const again = await netlink.changeAll(routes.map((change) => ({ ...change, do: "delete" }) as KernelChange));
  deepEqual(again.filter(({ is }) => is === "refused").length, 1, "only the one that was replaced has another gateway");
});

/** `ip` leaves out the length of single addresses, and says default. */
function asShown(destination: string): string {
  if (/^(0\.0\.0\.0|::)\/0$/.test(destination)) return "default";
  return destination.includes(":") ? destination.replace(/\/128$/, "") : destination.replace(/\/32$/, "");
}

test("neighbours and rules as ip shows them", { skip }, async () => {
  const { name, netlink, index } = await bridged();
  await using _closing = netlink;
  const mac = "ee:00:00:00:00:07";
  await netlink.change({ do: "create", neighbour: { family: "inet", index, address: "10.0.0.7", mac } });
  await netlink.change({ do: "replace", neighbour: { family: "inet6", index, address: "fd00::7", mac } });
  await netlink.change({ do: "create", neighbour: { family: "inet", index, address: "10.0.0.8", flags: ["proxy"] } });
  deepEqual(
    ip(name, "neigh", "show", "nud", "permanent")
      .map((each) => `${each.dst} ${each.lladdr}`)
      .sort(),
    [`10.0.0.7 ${mac}`, `fd00::7 ${mac}`],
  );
  const listed = await netlink.neighbours({ family: "inet", index });
  deepEqual(
    listed.filter(({ states }) => states.includes("permanent")).map(({ address, mac }) => `${address} ${mac}`),
    [`10.0.0.7 ${mac}`],
  );

  const rules: KernelChange[] = [
    { do: "create", rule: { family: "inet", priority: 100, table: 1000, mark: 0x10, markMask: 0xf0, iif: "br0" } },
    {
      do: "create",
      rule: { family: "inet", priority: 101, table: 254, from: "10.0.0.0/8", to: "10.1.0.0/16", invert: true },
    },
    { do: "create", rule: { family: "inet6", priority: 102, action: "blackhole", from: "fd05::/64" } },
  ];
  deepEqual(
    (await netlink.changeAll(rules)).map(({ is }) => is),
    ["done", "done", "done"],
  );
  const shown = ip(name, "rule", "show");
  deepEqual(pick(shown[1], "priority", "fwmark", "fwmask", "iif", "table"), {
    priority: 100,
    fwmark: "0x10",
    fwmask: "0xf0",
    iif: "br0",
    table: "1000",
  });
  deepEqual(
    (await netlink.rules({ family: "inet" })).filter(({ priority }) => priority === 101),
    [
      {
        family: "inet",
        priority: 101,
        action: "lookup",
        table: 254,
        from: "10.0.0.0/8",
        to: "10.1.0.0/16",
        invert: true,
      },
    ],
  );
  deepEqual(
    (await netlink.rules()).map(({ priority }) => priority),
    [0, 100, 101, 32766, 32767, 0, 102, 32766],
  );
  deepEqual(
    (await netlink.changeAll(rules.map((change) => ({ ...change, do: "delete" }) as KernelChange))).map(({ is }) => is),
    ["done", "done", "done"],
  );
});

const refusals: { name: string; change: (index: number) => KernelChange; says: RegExp; errno: string }[] = [
  {
    name: "the kernel's own words reach the user",
    change: () => ({ do: "create", route: { destination: "10.99.0.0/16", gateway: "10.50.0.7" } }),
    says: /refused to create route 10\.99\.0\.0\/16 via 10\.50\.0\.7 in table 254: ENETUNREACH, "Nexthop has invalid gateway"/,
    errno: "ENETUNREACH",
  },
  {
    name: "the attribute that is wrong is named",
    change: () => ({ do: "create", link: { name: "vx", kind: "vxlan", vxlan: { id: 99_999_999 } } }),
    says: /"VXLAN ID must be lower than 16777216", inside IFLA_LINKINFO/,
    errno: "ERANGE",
  },
  {
    name: "what is there already says what to do",
    change: (index) => ({ do: "create", address: { index, address: "10.0.0.1/24" } }),
    says: /EEXIST.*It is there already: replace it, or delete it first/,
    errno: "EEXIST",
  },
  {
    name: "a link that is not there",
    change: () => ({ do: "edit", link: { link: 9999, up: true } }),
    says: /ENODEV.*ip link/,
    errno: "ENODEV",
  },
  {
    name: "a route that is not there",
    change: () => ({ do: "delete", route: { destination: "10.99.0.0/16" } }),
    says: /ESRCH.*nothing like it/,
    errno: "ESRCH",
  },
];
for (const { name, change, says, errno } of refusals) {
  test(`refused: ${name}`, { skip }, async () => {
    const { netlink, index } = await bridged();
    await using _closing = netlink;
    await rejects(netlink.change(change(index)), (error) => {
      equal((error as { code?: string }).code, "NETLINK_REFUSED");
      match((error as Error).message, says);
      equal(kernelErrno(error), errno);
      return true;
    });
  });
}

test("a batch of thousands tells which ones were refused, and does the others", { skip }, async () => {
  const { netlink, index } = await bridged();
  await using _closing = netlink;
  const routes = Array.from({ length: 2_000 }, (_, i): KernelChange => {
    const destination = `10.${100 + (i >> 8)}.${i & 255}.0/24`;
    return { do: "create", route: { destination, gateway: i % 100 === 7 ? "1.2.3.4" : "10.0.0.7", protocol: 80 } };
  });
  const outcomes = await netlink.changeAll(routes);
  deepEqual(
    outcomes.flatMap(({ is }, i) => (is === "refused" ? i : [])),
    Array.from({ length: 20 }, (_, i) => i * 100 + 7),
  );
  equal((await netlink.routes({ protocol: 80, index })).length, 1_980);
});

test("a list of a table or link that is not there is empty", { skip }, async () => {
  const { netlink } = await bridged();
  await using _closing = netlink;
  for (const family of ["inet", "inet6"] as const) {
    deepEqual(await netlink.routes({ family, table: 4242 }), []);
    deepEqual(await netlink.routes({ family, index: 4242 }), []);
    deepEqual(await netlink.addresses({ family, index: 4242 }), []);
    deepEqual(await netlink.neighbours({ family, index: 4242 }), []);
  }
  deepEqual(await netlink.routes({ table: 4242 }), []);
  deepEqual(await netlink.neighbours({ family: "bridge", index: 4242 }), []);
  deepEqual(await netlink.links({ master: 4242 }), []);
});

test("one link, and the route that a packet takes", { skip }, async () => {
  const { netlink, index } = await bridged();
  await using _closing = netlink;
  equal((await netlink.link("br0"))?.index, index);
  equal((await netlink.link(index))?.name, "br0");
  deepEqual([await netlink.link("none"), await netlink.link(4242)], [undefined, undefined]);
  const refusal = (errno: string) => (error: unknown) => kernelErrno(error) === errno;
  await rejects(netlink.routeTo("192.168.0.1"), refusal("ENETUNREACH"));
  await netlink.change({ do: "create", route: { destination: "192.168.0.0/16", gateway: "10.0.0.7", protocol: 80 } });
  await netlink.change({ do: "create", route: { destination: "192.168.9.0/24", type: "unreachable" } });
  await netlink.change({ do: "create", route: { destination: "fd09::/64", gateway: "fd00::7", metric: 9 } });
  const { destination, gateway, protocol } = await netlink.routeTo("192.168.0.1");
  deepEqual({ destination, gateway, protocol }, { destination: "192.168.0.0/16", gateway: "10.0.0.7", protocol: 80 });
  await rejects(netlink.routeTo("192.168.9.1"), refusal("EHOSTUNREACH"));
  equal((await netlink.routeTo("fd09::1")).destination, "fd09::/64");
  equal((await netlink.routeTo("10.0.0.1")).type, "local");
});

test("a batch of which everything is refused", { skip }, async () => {
  const { netlink, index } = await bridged();
  await using _closing = netlink;
  const routes = Array.from({ length: 1_000 }, (_, i): KernelChange => {
    return { do: "create", route: { destination: `10.7.${i >> 8}.${i & 255}/32`, index } };
  });
  await netlink.changeAll(routes);
  const outcomes = await netlink.changeAll(routes);
  equal(outcomes.filter((each) => each.is === "refused" && kernelErrno(each.error) === "EEXIST").length, 1_000);
});

async function next(
  notifications: AsyncIterator<Notification>,
  isWanted: (n: Notification) => boolean,
): Promise<Notification> {
  for (;;) {
    const { value, done } = await notifications.next();
    if (done) throw new Error("the notifications ended");
    if (isWanted(value)) return value;
  }
}
const open = (path: string): Notifications =>
  openNotifications(["link", "address", "route", "neighbour", "rule"], { namespace: path });

test("changes are told as they happen, whoever makes them", { skip }, async () => {
  const { name, path, netlink, index } = await bridged();
  await using _closing = netlink;
  await using notifications = open(path);
  const told = notifications[Symbol.asyncIterator]();
  const steps: { command: string; isTold: (n: Notification) => boolean }[] = [
    { command: "link set br0 mtu 1300", isTold: (n) => "link" in n && n.link.index === index && n.link.mtu === 1300 },
    { command: "addr add 10.5.0.1/24 dev br0", isTold: (n) => "address" in n && n.address.address === "10.5.0.1/24" },
    {
      command: "route add 10.6.0.0/16 via 10.5.0.7",
      isTold: (n) => "route" in n && n.route.destination === "10.6.0.0/16" && n.is === "set",
    },
    {
      command: "route replace 10.6.0.0/16 via 10.5.0.8",
      isTold: (n) => "route" in n && n.route.gateway === "10.5.0.8" && n.replaces,
    },
    { command: "route del 10.6.0.0/16", isTold: (n) => "route" in n && n.is === "deleted" },
    {
      command: "neigh add 10.5.0.9 lladdr ee:00:00:00:00:09 dev br0",
      isTold: (n) => "neighbour" in n && n.neighbour.mac === "ee:00:00:00:00:09",
    },
    { command: "rule add pref 55 lookup 99", isTold: (n) => "rule" in n && n.rule.priority === 55 },
    { command: "link del br0", isTold: (n) => "link" in n && n.is === "deleted" && n.link.name === "br0" },
  ];
  for (const { command, isTold } of steps) {
    const telling = next(told, isTold); // waits in the event loop, not in the kernel
    execFileSync("ip", ["-n", name, ...command.split(" ")]);
    await telling;
  }
});

test("more changes than the buffer takes are told as lost, and what comes after is told again", { skip }, async () => {
  const { path, netlink, index } = await bridged();
  await using _closing = netlink;
  await using notifications = openNotifications(["route"], { namespace: path, bufferBytes: 4096 });
  const told = notifications[Symbol.asyncIterator]();
  const routes = Array.from(
    { length: 500 },
    (_, i): KernelChange => ({ do: "create", route: { destination: `10.7.${i >> 8}.${i & 255}/32`, index } }),
  );
  await netlink.changeAll(routes);
  await next(told, (n) => n.is === "lost");
  equal((await netlink.routes({ index, family: "inet", table: 254 })).length, 501);
  const telling = next(told, (n) => "route" in n && n.route.destination === "10.8.0.0/16");
  await netlink.change({ do: "create", route: { destination: "10.8.0.0/16", index } });
  await telling;
});

test("the loop ends when the signal aborts, also while it waits", { skip }, async () => {
  const { path } = freshNamespace();
  const stop = new AbortController();
  await using notifications = openNotifications(["link"], { namespace: path, signal: stop.signal });
  const waiting = notifications[Symbol.asyncIterator]().next();
  setImmediate(() => stop.abort());
  deepEqual(await waiting, { value: undefined, done: true });
});

test("dumps are whole while others change what is dumped", { skip }, async () => {
  const { path, netlink, index } = await bridged();
  await using _closing = netlink;
  await using other = openNetlink({ namespace: path });
  const routes = Array.from(
    { length: 3_000 },
    (_, i): KernelChange => ({
      do: "create",
      route: { destination: `10.7.${i >> 8}.${i & 255}/32`, index, protocol: 81 },
    }),
  );
  await netlink.changeAll(routes);
  for (let i = 0; i < 5; i++) {
    const [listed] = await Promise.all([
      netlink.routes({ protocol: 81 }),
      other.change({ do: "replace", route: { destination: "10.10.0.0/16", index, protocol: 82, metric: i } }),
    ]);
    equal(listed.length, 3_000);
  }
});
