// Stored forms against what the original stored: read and written again, it is the same bytes.
import { deepEqual, equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseJson } from "../../../base/lib/index.ts";
import { writeGoJson } from "../../model/index.ts";
import { type ApiKind, apiKinds } from "../api-kinds.ts";
import { fromEtcdResource, toEtcdResource } from "./etcd.ts";
import { fromIpamRecord, type IpamKind, toIpamRecord } from "./ipam.ts";

type Stored = { readonly key: string; readonly value: string };
const stored = JSON.parse(readFileSync("test/vectors/golden/etcd/stored.json", "utf8")) as readonly Stored[];

const ipamPlaces: readonly [prefix: string, kind: IpamKind][] = [
  ["/calico/ipam/v2/assignment/", "IPAMBlock"],
  ["/calico/ipam/v2/host/", "BlockAffinity"],
  ["/calico/ipam/v2/handle/", "IPAMHandle"],
];

// One was put there by hand, its fields in another order than Go's.
for (const { key, value } of stored.filter((each) => !each.key.endsWith("/knp.default.np"))) {
  test(`${key}: read as a v3 object and stored again, it is the same bytes`, () => {
    const [prefix, ipamKind] = ipamPlaces.find(([start]) => key.startsWith(start)) ?? [];
    if (prefix !== undefined && ipamKind !== undefined) {
      const id = { namespace: "", name: key.slice(prefix.length) };
      const object = fromIpamRecord(ipamKind, { id, value: parseJson(value), revision: "7" });
      const again = toIpamRecord(object);
      deepEqual(again.id, id);
      equal(writeGoJson(again.value), value);
      return;
    }
    const parsed = parseJson(value) as { kind: ApiKind; metadata: { name: string; namespace?: string } };
    equal(apiKinds.includes(parsed.kind), true);
    const { name, namespace = "" } = parsed.metadata;
    const object = fromEtcdResource(parsed.kind, { id: { namespace, name }, value: parsed, revision: "7" });
    equal(object.metadata.resourceVersion, "7");
    equal(writeGoJson(toEtcdResource(object)), value);
  });
}
