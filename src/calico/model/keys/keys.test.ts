import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { escapeName, type Key, keyToPath, policyKinds, unescapeName } from "./keys.ts";
import { pathToKey } from "./path-to-key.ts";
import { resourceKindInfo, resourceKinds } from "./resource-kinds.ts";

const both: [string, Key][] = [
  ["/calico/v1/Ready", { is: "Ready" }],
  ["/calico/v1/config/HealthHost", { is: "GlobalConfig", name: "HealthHost" }],
  [
    "/calico/v1/host/node-a/config/IpInIpTunnelAddr",
    { is: "HostConfig", hostname: "node-a", name: "IpInIpTunnelAddr" },
  ],
  ["/calico/v1/host/node-a/wireguard", { is: "Wireguard", nodeName: "node-a" }],
  ["/calico/v1/host/n1/endpoint/a%2fb", { is: "HostEndpoint", hostname: "n1", endpointId: "a/b" }],
  [
    "/calico/v1/host/node-a/workload/k8s/shop%2fweb-0/endpoint/eth0",
    {
      is: "WorkloadEndpoint",
      hostname: "node-a",
      orchestratorId: "k8s",
      workloadId: "shop/web-0",
      endpointId: "eth0",
    },
  ],
  ["/calico/v1/netset/shop%2fs", { is: "NetworkSet", name: "shop/s" }],
  ["/calico/v1/policy/tier/t1/metadata", { is: "Tier", name: "t1" }],
  ["/calico/v1/policy/profile/kns.shop/rules", { is: "ProfileRules", name: "kns.shop" }],
  ["/calico/v1/policy/profile/kns.shop/labels", { is: "ProfileLabels", name: "kns.shop" }],
  [
    "/calico/v1/policy/GlobalNetworkPolicy//t1.foo",
    { is: "Policy", kind: "GlobalNetworkPolicy", namespace: "", name: "t1.foo" },
  ],
  [
    "/calico/v1/policy/KubernetesNetworkPolicy/shop/allow",
    { is: "Policy", kind: "KubernetesNetworkPolicy", namespace: "shop", name: "allow" },
  ],
  [
    "/calico/v1/policy/tier/default/policy/shop%2fknp.default.web",
    { is: "LegacyPolicy", tier: "default", name: "shop/knp.default.web" },
  ],
  ["/calico/v1/ipam/v6/pool/fd00::-48", { is: "IpPool", cidr: "fd00::/48" }],
  ["/calico/ipam/v2/assignment/ipv4/block/10.65.0.0-30", { is: "Block", cidr: "10.65.0.0/30" }],
  [
    "/calico/ipam/v2/host/n1/ipv4/block/10.65.0.0-26",
    { is: "BlockAffinity", affinityType: "host", host: "n1", cidr: "10.65.0.0/26" },
  ],
  [
    "/calico/resources/v3/projectcalico.org/kubernetesservice/shop/web",
    { is: "Resource", kind: "KubernetesService", namespace: "shop", name: "web" },
  ],
  ["/calico/resources/v3/projectcalico.org/nodes/bare", { is: "Resource", kind: "Node", namespace: "", name: "bare" }],
];
for (const [path, key] of both) {
  test(`${path} is a ${key.is} key, both ways`, () => {
    equal(keyToPath(key), path);
    deepEqual(pathToKey(path), key);
  });
}

const unreadable = [
  "",
  "/",
  "/calico",
  "/calico/v1",
  "/other/v1/Ready",
  "calico/v1/Ready",
  "/calico/v1/Ready/x",
  "/calico/v1/policy/profile/x",
  "/calico/v1/policy/tier/x",
  "/calico/v1/policy/tier/x/other",
  "/calico/v1/host/n",
  "/calico/v1/host/n/workload/k8s/a/b/c",
  "/calico/v1/netset/a/b",
  "/calico/v1/ipam/v4/pool/junk",
  "/calico/bgp/v1/global/",
  "/calico/bgp/v1/host/n/",
  "/calico/bgp/v1/host//as_num",
  "/calico/v1/ipam/v4/pool/10.0.0.0-016",
  "/calico/ipam/v2/virtual/n/ipv4/block/10.0.0.0-26",
  "/calico/resources/v3/projectcalico.org/nodes/ns/name",
  "/calico/resources/v3/projectcalico.org/networkpolicies/name",
  "/calico/resources/v3/projectcalico.org/unheardof/name",
  "calico/resources/v3/projectcalico.org/nodes/bare",
];
for (const path of unreadable) test(`${JSON.stringify(path)} is no key`, () => equal(pathToKey(path), undefined));

const unsayable: Key[] = [
  { is: "GlobalConfig", name: "" },
  { is: "HostEndpoint", hostname: "", endpointId: "a" },
  { is: "Policy", kind: "NetworkPolicy", namespace: "", name: "a" },
  { is: "Policy", kind: "GlobalNetworkPolicy", namespace: "", name: "" },
  { is: "IpPool", cidr: "10.0.0.1" },
  { is: "BlockAffinity", affinityType: "host", host: "", cidr: "10.0.0.0/26" },
];
for (const key of unsayable) {
  test(`${JSON.stringify(key)} has no path`, () => equal(keyToPath(key), undefined));
}

test("odd paths that the original reads are read alike", () => {
  deepEqual(pathToKey("/calico/v1/policy/anything/a/b"), { is: "Policy", kind: "anything", namespace: "a", name: "b" });
  deepEqual(pathToKey("calico/v1/config/a/b"), { is: "GlobalConfig", name: "a/b" });
  deepEqual(pathToKey("/calico/v1/config"), { is: "GlobalConfig", name: "" });
  deepEqual(pathToKey("/calico/bgp/v1/global//a"), { is: "GlobalBgpConfig", name: "/a" });
  deepEqual(pathToKey("/calico/bgp/v1/host/n/a/b"), { is: "NodeBgpConfig", nodeName: "n", name: "a/b" });
  deepEqual(pathToKey("/calico/v1/ipam/v4/pool/10.1.2.3-8"), { is: "IpPool", cidr: "10.0.0.0/8" });
  equal(
    keyToPath({ is: "BlockAffinity", affinityType: "virtual", host: "lb", cidr: "10.0.0.0/26" }),
    "/calico/ipam/v2/virtual/lb/ipv4/block/10.0.0.0-26",
  );
});

test("escaping is undone exactly", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("%", "2", "f", "5", "/", "a") }), (name) =>
      equal(unescapeName(escapeName(name)), name),
    ),
  );
});

// Raw parts may hold anything but a slash or a percent sign; escaped parts may hold anything.
const raw = fc.stringMatching(/^[a-z0-9A-Z.:_ -]{1,20}$/);
const escaped = fc.string({ unit: "grapheme", minLength: 1 });
const cidr = fc.oneof(
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })),
  fc.tuple(fc.constantFrom("fd00::1", "2001:db8:1:2:3:4:5:6", "::"), fc.integer({ min: 0, max: 128 })),
);
const anyKey: fc.Arbitrary<Key> = fc.oneof(
  fc.constant<Key>({ is: "Ready" }),
  raw.map((name): Key => ({ is: "GlobalConfig", name })),
  fc.tuple(raw, raw).map(([hostname, name]): Key => ({ is: "HostConfig", hostname, name })),
  raw.map((nodeName): Key => ({ is: "Wireguard", nodeName })),
  fc.tuple(raw, escaped).map(([hostname, endpointId]): Key => ({ is: "HostEndpoint", hostname, endpointId })),
  fc.tuple(raw, escaped, escaped, escaped).map(
    ([hostname, orchestratorId, workloadId, endpointId]): Key => ({
      is: "WorkloadEndpoint",
      hostname,
      orchestratorId,
      workloadId,
      endpointId,
    }),
  ),
  escaped.map((name): Key => ({ is: "NetworkSet", name })),
  raw.map((name): Key => ({ is: "Tier", name })),
  escaped.map((name): Key => ({ is: "ProfileRules", name })),
  escaped.map((name): Key => ({ is: "ProfileLabels", name })),
  fc
    .tuple(fc.constantFrom(...policyKinds), raw, raw)
    .map(([kind, namespace, name]): Key => ({ is: "Policy", kind, namespace, name })),
  fc.tuple(raw, escaped).map(([tier, name]): Key => ({ is: "LegacyPolicy", tier, name })),
  fc.tuple(fc.constantFrom(...resourceKinds), raw, raw).map(
    ([kind, namespace, name]): Key => ({
      is: "Resource",
      kind,
      namespace: resourceKindInfo(kind)?.isNamespaced ? namespace : "",
      name,
    }),
  ),
);

test("a key's path reads back as the key", () => {
  fc.assert(fc.property(anyKey, (key) => deepEqual(pathToKey(keyToPath(key) ?? ""), key)));
});

test("a network's path reads back as the masked network", () => {
  fc.assert(
    fc.property(cidr, ([ip, length]) => {
      const path = keyToPath({ is: "Block", cidr: `${ip}/${length}` }) ?? "";
      const key = pathToKey(path);
      equal(key?.is, "Block");
      equal(key && keyToPath(key), path);
    }),
  );
});

test("any text reads as a key or as none, without throwing", () => {
  const part = fc.oneof(
    fc.constantFrom("calico", "v1", "policy", "profile", "tier", "host", "ipam", "v2", ""),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      pathToKey(`/${parts.join("/")}`);
    }),
  );
});
