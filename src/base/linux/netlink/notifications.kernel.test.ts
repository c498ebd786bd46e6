// A picture kept by notifications is the kernel's own, after thousands of changes by two writers, with a buffer that is sometimes too small.
import { deepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import { freshNamespace, noNamespaces } from "../../../../test/kit/namespace.ts";
import { type Random, seededRandom } from "../../../../test/kit/random.ts";
import { type KernelChange, type Netlink, openNetlink, openNotifications, type Route } from "../kernel.ts";

const protocol = 80;
const marker = "10.255.255.255/32";

/** What makes a route the same one: a second with the same key takes its place. */
const keyOf = ({ destination, table = 254, metric = 0 }: Pick<Route, "destination" | "metric"> & { table?: number }) =>
  `${destination} ${table} ${metric}`;

function randomChange(random: Random, index: number): KernelChange {
  const isV6 = random.isOneIn(3);
  const place = random.below(40);
  const route = {
    destination: isV6 ? `fd07:${place}::/64` : `10.7.${place}.0/24`,
    metric: 10 + random.below(2),
    table: random.pick([254, 1000]),
    protocol,
    ...(random.isOneIn(4)
      ? { type: "blackhole" as const }
      : { gateway: `${isV6 ? "fd00::" : "10.0.0."}${2 + random.below(5)}`, index }),
  };
  const what = random.pick(["create", "replace", "replace", "delete"] as const);
  if (what !== "delete") return { do: what, route };
  const { destination, metric, table } = route;
  return { do: "delete", route: { destination, metric, table, protocol } };
}

async function prepared(path: string): Promise<{ netlink: Netlink; index: number }> {
  const netlink = openNetlink({ namespace: path });
  await netlink.change({ do: "edit", link: { link: "lo", up: true } });
  await netlink.change({ do: "create", link: { name: "br0", kind: "bridge", up: true } });
  const index = (await netlink.links({ kind: "bridge" }))[0]?.index ?? 0;
  await netlink.change({ do: "create", address: { index, address: "10.0.0.1/24" } });
  await netlink.change({ do: "create", address: { index, address: "fd00::1/64", flags: ["nodad"] } });
  return { netlink, index };
}

for (const { name, bufferBytes } of [
  { name: "a buffer that takes everything", bufferBytes: 8 << 20 },
  { name: "a buffer that is too small now and then", bufferBytes: 4 << 10 },
]) {
  test(`a picture kept by notifications is the kernel's: ${name}`, { skip: noNamespaces }, async () => {
    const seed = Date.now() % 1_000_000;
    const random = seededRandom(seed);
    const { path } = freshNamespace();
    const { netlink, index } = await prepared(path);
    await using _closing = netlink;
    await using other = openNetlink({ namespace: path });
    await using changes = openNotifications(["route"], { namespace: path, bufferBytes });
    let picture = new Map<string, Route>();
    let losses = 0;
    const list = async () => new Map((await netlink.routes({ protocol })).map((route) => [keyOf(route), route]));
    const following = (async () => {
      for await (const change of changes) {
        if (change.is === "lost") {
          losses += 1;
          picture = await list();
          if (picture.has(keyOf({ destination: marker }))) return;
        } else if ("route" in change && change.route.protocol === protocol) {
          if (change.is === "set") picture.set(keyOf(change.route), change.route);
          else picture.delete(keyOf(change.route));
          if (change.route.destination === marker) return;
        }
      }
    })();
    for (let round = 0; round < 40; round++) {
      const batches = [0, 1].map(() => Array.from({ length: 50 }, () => randomChange(random, index)));
      await Promise.all([netlink.changeAll(batches[0] ?? []), other.changeAll(batches[1] ?? [])]);
    }
    await other.change({ do: "create", route: { destination: marker, index, protocol } });
    await following;
    const sorted = (routes: Map<string, Route>) => [...routes].sort(([a], [b]) => (a < b ? -1 : 1));
    deepEqual(sorted(picture), sorted(await list()), `seed ${seed}`);
    ok(picture.size > 10, `seed ${seed}: the changes left almost nothing`);
    ok(bufferBytes < 1 << 20 ? losses > 0 : losses === 0, `seed ${seed}: ${losses} losses`);
  });
}
