import { deepEqual, equal, throws } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Kind, kindInfo, kindNames } from "../../kinds/index.ts";
import { blockId, idToKey, keyRange, keyToId } from "./keys.ts";

const resources = "/calico/resources/v3/projectcalico.org";
const cases: { name: string; kind: Kind; key: string; id: string | undefined }[] = [
  { name: "a cluster-wide object", kind: "Tier", key: `${resources}/tiers/default`, id: "/default" },
  { name: "a name with dots", kind: "Node", key: `${resources}/nodes/a.b.c`, id: "/a.b.c" },
  { name: "a namespaced object", kind: "NetworkSet", key: `${resources}/networksets/shop/db`, id: "shop/db" },
  { name: "another kind's key", kind: "Tier", key: `${resources}/nodes/a`, id: undefined },
  { name: "a cluster-wide kind below a namespace", kind: "Tier", key: `${resources}/tiers/a/b`, id: undefined },
  { name: "a namespaced kind without one", kind: "NetworkSet", key: `${resources}/networksets/db`, id: undefined },
  { name: "an empty name", kind: "Tier", key: `${resources}/tiers/`, id: undefined },
  { name: "an empty namespace", kind: "NetworkSet", key: `${resources}/networksets//db`, id: undefined },
  {
    name: "a block",
    kind: "IPAMBlock",
    key: "/calico/ipam/v2/assignment/ipv4/block/10.0.0.0-26",
    id: "/ipv4/block/10.0.0.0-26",
  },
  {
    name: "an IPv6 block",
    kind: "IPAMBlock",
    key: "/calico/ipam/v2/assignment/ipv6/block/fd00::-122",
    id: "/ipv6/block/fd00::-122",
  },
  { name: "a block that is none", kind: "IPAMBlock", key: "/calico/ipam/v2/assignment/ipv4/block/x-26", id: undefined },
  {
    name: "a block without a mask",
    kind: "IPAMBlock",
    key: "/calico/ipam/v2/assignment/ipv4/block/1.2.3.4",
    id: undefined,
  },
  {
    name: "an affinity",
    kind: "BlockAffinity",
    key: "/calico/ipam/v2/host/node-a/ipv4/block/10.0.0.0-26",
    id: "/node-a/ipv4/block/10.0.0.0-26",
  },
  { name: "a handle", kind: "IPAMHandle", key: "/calico/ipam/v2/handle/k8s.c1", id: "/k8s.c1" },
  { name: "the configuration of IPAM", kind: "IPAMConfig", key: "/calico/ipam/v2/config", id: "/default" },
  { name: "a key below that one", kind: "IPAMConfig", key: "/calico/ipam/v2/config/a", id: undefined },
  {
    name: "the configuration as a resource",
    kind: "IPAMConfiguration",
    key: `${resources}/ipamconfigurations/default`,
    id: "/default",
  },
  { name: "an affinity without a block", kind: "BlockAffinity", key: "/calico/ipam/v2/host/node-a", id: undefined },
];

for (const { name, kind, key, id } of cases) {
  test(`${name} ${id === undefined ? "is passed over" : "is read and written back"}`, () => {
    const found = keyToId(kind, key);
    equal(found === undefined ? undefined : `${found.namespace}/${found.name}`, id);
    if (found !== undefined) equal(idToKey(kind, found), key);
  });
}

test("every key that the real tools stored belongs to exactly one kind", () => {
  const stored = JSON.parse(readFileSync("test/vectors/golden/etcd/stored.json", "utf8")) as { key: string }[];
  const inEtcd = kindNames.filter((kind) => (kindInfo(kind).etcdPrefix ?? kindInfo(kind).etcdKey) !== undefined);
  for (const { key } of stored) {
    const owners = inEtcd.filter((kind) => keyToId(kind, key) !== undefined);
    equal(owners.length, 1, key);
  }
});

test("a range covers what starts with the prefix, and no more", () => {
  const { key, rangeEnd } = keyRange("Tier");
  equal(key.toString(), `${resources}/tiers/`);
  equal(rangeEnd.toString(), `${resources}/tiers0`);
  deepEqual(keyRange("IPAMConfig"), {
    key: Buffer.from("/calico/ipam/v2/config"),
    rangeEnd: Buffer.from("/calico/ipam/v2/config\u0000"),
  });
});

test("a name that would change the key's shape is refused", () => {
  throws(() => idToKey("Tier", { namespace: "", name: "a/b" }), { code: "invalid" });
  throws(() => idToKey("NetworkSet", { namespace: "", name: "a" }), { code: "invalid" });
  throws(() => idToKey("IPAMConfig", { namespace: "", name: "other" }), { code: "invalid" });
});

test("a kind that etcd does not hold is not found", () => {
  throws(() => keyRange("Pod"), { code: "no-such-kind" });
});

test("a block's value says its name", () => {
  deepEqual(blockId({ cidr: "10.0.0.64/26" }), { namespace: "", name: "ipv4/block/10.0.0.64-26" });
  deepEqual(blockId({ cidr: "fd00::/122" }), { namespace: "", name: "ipv6/block/fd00::-122" });
  equal(blockId({ cidr: "junk" }), undefined);
});
