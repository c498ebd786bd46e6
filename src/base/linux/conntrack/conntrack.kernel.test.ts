// Connections that the kernel tracks are forgotten by address, at either end and in either direction; others stay.
import { equal, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { freshNamespace, noNamespaces } from "../../../../test/kit/namespace.ts";
import { openConntrack, openNetlink, ping } from "../kernel.ts";

const noNft = noNamespaces || (hasNft() ? false : "needs nft, to have connections tracked");

function hasNft(): boolean {
  try {
    execFileSync("nft", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test("connections of an address are forgotten, and only those", { skip: noNft }, async () => {
  const { name, path } = freshNamespace();
  await using netlink = openNetlink({ namespace: path });
  await netlink.change({ do: "edit", link: { link: "lo", up: true } });
  const tracking = "table inet t { chain c { type filter hook output priority 0; ct state new accept; }; }";
  execFileSync("ip", ["netns", "exec", name, "nft", "-f", "-"], { input: tracking });
  const addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
  for (const to of addresses) {
    const { received } = await ping(to, { namespace: path, from: "127.0.0.9", count: 1 });
    equal(received, 1);
  }
  await using tracker = openConntrack({ namespace: path });
  equal(await tracker.forget(["127.0.0.77", "fd00::1"]), 0);
  equal(await tracker.forget(["127.0.0.2"]), 1);
  equal(await tracker.forget(["127.0.0.2"]), 0);
  ok((await tracker.forget(["127.0.0.9"])) === 2, "the rest by their source");
  equal(await tracker.forget(addresses), 0);
});
