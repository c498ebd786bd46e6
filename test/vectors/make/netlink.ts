// Records what the kernel answers, as hex, with what we read in it: test/vectors/netlink/recorded.json. As root, on Linux:
//   node test/vectors/make/netlink.ts
// netlink.kernel.test.ts compares what we read with what `ip` shows, on the kernel at hand; these bytes are for where there is none, and for fuzzing.
import { writeFileSync } from "node:fs";
import { openNetlinkSocket } from "../../../src/base/linux/ffi/netlink-socket.ts";
import { type KernelChange, createNamespace, deleteNamespace, inNamespace, type KernelSocket, Netlink, openNetlink } from "../../../src/base/linux/kernel.ts";

type Recorded = { name: string; datagrams: string[]; reads: unknown };

const name = `cattail-test-${process.pid}-1`;
const path = createNamespace(name);
try {
  writeFileSync("test/vectors/netlink/recorded.json", `${JSON.stringify(await record(), null, 1)}\n`);
} finally {
  deleteNamespace(name);
}

async function record(): Promise<Recorded[]> {
  await using netlink = openNetlink({ namespace: path });
  const change = (each: KernelChange) => netlink.change(each);
  await change({ do: "edit", link: { link: "lo", up: true } });
  await change({ do: "create", link: { name: "veth0", kind: "veth", mac: "ee:ee:ee:ee:ee:02", peer: { name: "veth1", mac: "ee:ee:ee:ee:ee:03" } } });
  await change({ do: "create", link: { name: "br0", kind: "bridge", mac: "ee:ee:ee:ee:ee:01", up: true } });
  const index = (await netlink.links({ kind: "bridge" }))[0]?.index ?? 0;
  const vxlan = { id: 4096, port: 4789, local: "10.0.0.1", parent: index, learning: false };
  await change({ do: "create", link: { name: "vxlan.test", kind: "vxlan", mac: "ee:ee:ee:ee:ee:04", up: true, vxlan } });
  const vtep = (await netlink.links({ kind: "vxlan" }))[0]?.index ?? 0;
  await change({ do: "create", address: { index, address: "10.0.0.1/24", broadcast: "10.0.0.255" } });
  await change({ do: "create", address: { index, address: "fd00::1/64", flags: ["nodad"] } });
  await change({ do: "create", route: { destination: "192.168.0.0/26", gateway: "10.0.0.7", protocol: 80, source: "10.0.0.1", metric: 5 } });
  await change({ do: "create", route: { destination: "192.168.1.0/26", type: "blackhole", table: 1000 } });
  await change({ do: "create", route: { destination: "192.168.2.0/26", gateway: "172.16.0.1", index, onlink: true, mtu: 1400 } });
  const hops = [{ gateway: "10.0.0.7", index }, { gateway: "10.0.0.8", index, weight: 3 }];
  await change({ do: "create", route: { destination: "192.168.3.0/26", hops } });
  await change({ do: "create", route: { destination: "fd01::/64", gateway: "fd00::7" } });
  await change({ do: "create", neighbour: { family: "inet", index, address: "10.0.0.7", mac: "ee:00:00:00:00:07" } });
  await change({ do: "create", neighbour: { family: "bridge", index: vtep, address: "10.0.0.9", mac: "ee:00:00:00:00:09" } });
  await change({ do: "create", rule: { family: "inet", priority: 100, table: 1000, mark: 0x10, markMask: 0xf0, iif: "br0" } });
  await change({ do: "create", rule: { family: "inet6", priority: 101, table: 254, from: "fd00::/8", invert: true } });
  return [
    await listed("links", (each) => each.links()),
    await listed("addresses", (each) => each.addresses()),
    await listed("routes", (each) => each.routes()),
    await listed("neighbours", (each) => each.neighbours({ family: "inet" })),
    await listed("forwarding entries", (each) => each.neighbours({ family: "bridge" })),
    await listed("rules", (each) => each.rules()),
    await listed("refusal", (each) => each.change({ do: "create", link: { name: "vx", kind: "vxlan", vxlan: { id: 99_999_999 } } }).catch((error: Error) => error.message)),
    await notified(change, index),
  ];
}

async function listed(what: string, ask: (netlink: Netlink) => Promise<unknown>): Promise<Recorded> {
  const datagrams: string[] = [];
  const socket = inNamespace(path, () => openNetlinkSocket({ groups: 0, receiveBufferBytes: 1 << 20 }));
  await using netlink = new Netlink(recording(socket, datagrams));
  const reads = await ask(netlink);
  return { name: what, datagrams, reads };
}

async function notified(change: (each: KernelChange) => Promise<void>, index: number): Promise<Recorded> {
  const datagrams: string[] = [];
  const { groupsOf, Notifications } = await import("../../../src/base/linux/netlink/notifications.ts");
  const groups = groupsOf(["link", "address", "route", "neighbour", "rule"]);
  const socket = inNamespace(path, () => openNetlinkSocket({ groups, receiveBufferBytes: 1 << 20 }));
  await using notifications = new Notifications(recording(socket, datagrams));
  await change({ do: "edit", link: { link: index, mtu: 1400 } });
  await change({ do: "delete", route: { destination: "192.168.0.0/26", metric: 5 } });
  await change({ do: "delete", rule: { family: "inet", priority: 100 } });
  await change({ do: "delete", address: { index, address: "fd00::1/64" } });
  const reads: unknown[] = [];
  for await (const notification of notifications) {
    reads.push(notification);
    if ("address" in notification && notification.is === "deleted") break;
  }
  return { name: "notifications", datagrams, reads };
}

function recording(socket: KernelSocket, datagrams: string[]): KernelSocket {
  return {
    send: (bytes) => socket.send(bytes),
    receive(into) {
      const received = socket.receive(into);
      if (typeof received === "number") datagrams.push(Buffer.from(into.subarray(0, received)).toString("hex"));
      return received;
    },
    wait: () => socket.wait(),
    wake: () => socket.wake(),
    [Symbol.dispose]: () => socket[Symbol.dispose](),
  };
}
