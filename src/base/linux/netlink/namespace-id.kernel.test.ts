// Which namespace the peer of a link is in, asked of the kernel.
import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { freshNamespace, noNamespaces } from "../../../../test/kit/namespace.ts";
import { openNamespace, openNetlink } from "../kernel.ts";

const skip = noNamespaces;

test("a namespace has the number by which a link names its peer's, and none where no peer is", { skip }, async () => {
  const [here, there, apart] = [freshNamespace(), freshNamespace(), freshNamespace()];
  await using netlink = openNetlink({ namespace: here.path });
  using far = openNamespace(there.path);
  using alone = openNamespace(apart.path);
  const peer = { name: "far", namespaceFd: far.fd };
  await netlink.change({ do: "create", link: { name: "near", kind: "veth", peer } });
  const { peerNamespaceId } = (await netlink.link("near")) ?? {};
  ok(peerNamespaceId !== undefined);
  equal(await netlink.namespaceId(far), peerNamespaceId);
  equal(await netlink.namespaceId(alone), undefined);
});
