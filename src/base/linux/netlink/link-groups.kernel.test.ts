// Links that are deleted together.
import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { freshNamespace, noNamespaces } from "../../../../test/kit/namespace.ts";
import { openNetlink } from "../kernel.ts";

test("links of a group are deleted together, and nobody deletes the group of all others", {
  skip: noNamespaces,
}, async () => {
  await using netlink = openNetlink({ namespace: freshNamespace().path });
  const names = ["a", "b", "c"];
  await netlink.changeAll(names.map((name) => ({ do: "create", link: { kind: "bridge", name } })));
  await netlink.changeAll(["a", "c"].map((link) => ({ do: "edit", link: { link, group: 7 } })));
  await netlink.change({ do: "delete", linkGroup: 7 });
  const there = await Promise.all(names.map(async (name) => (await netlink.link(name))?.name));
  deepEqual(there, [undefined, "b", undefined]);
  await rejects(netlink.change({ do: "delete", linkGroup: 7 }), /refused to delete links of group 7: ENODEV/);
  await rejects(netlink.change({ do: "delete", linkGroup: 0 }), /group 0/);
});
