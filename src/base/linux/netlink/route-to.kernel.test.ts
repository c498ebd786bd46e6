// The kernel's own answer about packets that are not this host's: rules of routing may ask who sends them.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { freshNamespace, noNamespaces } from "../../../../test/kit/namespace.ts";
import { openNetlink, writeSysctl } from "../kernel.ts";

test("the route of a packet that arrives follows the rules that ask for its source", {
  skip: noNamespaces,
}, async () => {
  const { path } = freshNamespace();
  await using netlink = openNetlink({ namespace: path });
  await netlink.change({ do: "edit", link: { link: "lo", up: true } });
  await netlink.change({ do: "create", link: { name: "br0", kind: "bridge", up: true } });
  const index = (await netlink.link("br0"))?.index ?? 0;
  await netlink.change({ do: "create", address: { index, address: "10.0.0.1/24" } });
  writeSysctl("net.ipv4.ip_forward", 1, { namespace: path });
  const destination = "192.168.0.0/16";
  await netlink.change({ do: "create", route: { destination, gateway: "10.0.0.7" } });
  await netlink.change({ do: "create", route: { destination, gateway: "10.0.0.8", table: 100 } });
  const rule = { family: "inet", priority: 500, from: "10.0.0.128/25", table: 100 } as const;
  await netlink.change({ do: "create", rule });
  const gatewayOf = async (from: string) => (await netlink.routeTo("192.168.0.1", { from, index })).gateway;
  deepEqual(
    [await gatewayOf("10.0.0.9"), await gatewayOf("10.0.0.200"), (await netlink.routeTo("192.168.0.1")).gateway],
    ["10.0.0.7", "10.0.0.8", "10.0.0.7"],
  );
});
