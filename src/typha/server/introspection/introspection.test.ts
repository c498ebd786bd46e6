import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { pathToKey, updateType } from "../../../calico/model/index.ts";
import { Journal } from "./journal.ts";
import { kindOfPath, placesOfKind } from "./kind-of-path.ts";
import { Timeline } from "./timeline.ts";

const paths: { path: string; kind: string }[] = [
  { path: "/calico/v1/host/node-1/workload/k8s/shop%2fweb-0/endpoint/eth0", kind: "WorkloadEndpoint" },
  { path: "/calico/v1/host/node-1/endpoint/eth0", kind: "HostEndpoint" },
  { path: "/calico/v1/host/node-1/config/IpInIpTunnelAddr", kind: "HostConfig" },
  { path: "/calico/v1/host/node-1/metadata", kind: "HostMetadata" },
  { path: "/calico/v1/host/node-1/wireguard", kind: "Wireguard" },
  { path: "/calico/v1/policy/tier/default/metadata", kind: "Tier" },
  { path: "/calico/v1/policy/profile/kns.shop/rules", kind: "ProfileRules" },
  { path: "/calico/v1/policy/profile/kns.shop/labels", kind: "ProfileLabels" },
  { path: "/calico/v1/policy/GlobalNetworkPolicy//allow-dns", kind: "GlobalNetworkPolicy" },
  { path: "/calico/v1/policy/NetworkPolicy/shop/web", kind: "NetworkPolicy" },
  { path: "/calico/v1/config/LogSeverityScreen", kind: "GlobalConfig" },
  { path: "/calico/v1/netset/shop%2fpartners", kind: "NetworkSet" },
  { path: "/calico/v1/ipam/v4/pool/10.0.0.0-16", kind: "IpPool" },
  { path: "/calico/v1/Ready", kind: "Ready" },
  { path: "/calico/ipam/v2/assignment/ipv4/block/10.0.0.0-26", kind: "Block" },
  { path: "/calico/ipam/v2/host/node-1/ipv4/block/10.0.0.0-26", kind: "BlockAffinity" },
  { path: "/calico/resources/v3/projectcalico.org/nodes/node-1", kind: "Node" },
  { path: "/calico/resources/v3/projectcalico.org/kubernetesservice/shop/web", kind: "KubernetesService" },
  { path: "/calico/resources/v3/projectcalico.org/profiles/kns.shop", kind: "Profile" },
];

for (const { path, kind } of paths) {
  test(`a look at the path tells a ${kind}, as the parser does: ${path}`, () => {
    equal(kindOfPath(path), kind);
    const key = pathToKey(path);
    ok(placesOfKind(kind).some((place) => path.startsWith(place)));
    equal(key?.is === "Resource" || key?.is === "Policy" ? key.kind : key?.is, kind);
  });
}

test("a path of no kind is other", () => equal(kindOfPath("/elsewhere/v1"), "other"));

test("the timeline knows when a position was reached, exactly for recent ones and roughly for old ones", () => {
  const timeline = new Timeline();
  for (let head = 10; head <= 1_000_000; head += 10) timeline.note(head, head * 2);
  equal(timeline.timeOf(1_000_000), 2_000_000);
  equal(timeline.timeOf(999_995), 2_000_000);
  equal(timeline.timeOf(999_990), 1_999_980);
  equal(timeline.timeOf(1_000_001), undefined);
  equal(timeline.size <= 8192, true);
  const old = timeline.timeOf(500_000) ?? 0;
  equal(old >= 1_000_000 && old < 2_000_000, true);
});

test("changes within one millisecond share an entry of the timeline", () => {
  const timeline = new Timeline();
  for (let head = 1; head <= 100; head += 1) timeline.note(head, 7);
  equal(timeline.size, 1);
  equal(timeline.timeOf(50), 7);
});

test("the journal tells new, updated, deleted and invalid apart, newest first", () => {
  const journal = new Journal();
  const at = { receivedAtMs: 1, cachedAtMs: 2 };
  const base = { path: "/a", value: "x", revision: "1", v3ResourceVersion: "", type: updateType.new };
  journal.add(base, { ...at, position: 1 });
  journal.add({ ...base, type: updateType.updated }, { ...at, position: 2 });
  journal.add({ ...base, type: updateType.updated, value: undefined }, { ...at, position: 3 });
  journal.add({ ...base, path: "/b" }, { ...at, position: 4 });
  journal.add({ ...base, type: updateType.deleted, value: undefined }, { ...at, position: 5 });
  deepEqual(
    journal.of("/a").map(({ change }) => change),
    ["deleted", "invalid", "updated", "new"],
  );
});

test("the journal is bounded, and so is what it says of one key", () => {
  const journal = new Journal();
  const at = { receivedAtMs: 1, cachedAtMs: 2, position: 1 };
  const update = { path: "/a", value: "x", revision: "1", v3ResourceVersion: "", type: updateType.updated };
  for (let count = 0; count < 5000; count += 1) journal.add(update, at);
  equal(journal.of("/a").length, 20);
  for (let count = 0; count < 10_000; count += 1) journal.add({ ...update, path: "/b" }, at);
  equal(journal.of("/a").length, 0);
});
