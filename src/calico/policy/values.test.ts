import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { PolicyData } from "./policy-data.ts";
import { type Policy, readHostEndpoint, readPolicy } from "./values.ts";

const key = { kind: "GlobalNetworkPolicy", namespace: "", name: "p" };

test("the rules of a policy are read when asked for, and are the same each time", () => {
  const policy: Policy = readPolicy(key, JSON.stringify({ inbound_rules: [{ action: "allow" }] }));
  deepEqual(
    policy.rules.ingress.map(({ action }) => action),
    ["allow"],
  );
  equal(policy.rules, policy.rules);
});

test("a rule that makes no sense voids the policy at once, before anybody asks for its rules", () => {
  throws(() => readPolicy(key, JSON.stringify({ inbound_rules: [{ action: "perhaps" }] })), /is no action/);
});

const nonsense: readonly { readonly rule: object; readonly says: RegExp }[] = [
  { rule: { protocol: 0 }, says: /is no protocol/ },
  { rule: { protocol: "tcp", dst_ports: [0] }, says: /neither a port/ },
  { rule: { protocol: "tcp", dst_ports: ["0:80"] }, says: /neither a port/ },
  { rule: { protocol: "tcp", "!src_ports": ["0"] }, says: /neither a port/ },
  { rule: { protocol: "tcp", dst_ports: ["81:80"] }, says: /neither a port/ },
  { rule: { protocol: "udplite", dst_ports: [80] }, says: /know no ports/ },
  { rule: { dst_ports: [80] }, says: /no protocol/ },
  { rule: { icmp_type: 255 }, says: /no type of ICMP/ },
  { rule: { ip_version: 5 }, says: /no version of IP/ },
];
for (const { rule, says } of nonsense)
  test(`a policy with the rule ${JSON.stringify(rule)} is void`, () => {
    throws(() => readPolicy(key, JSON.stringify({ outbound_rules: [{ action: "allow" }, rule] })), says);
  });

test("an endpoint with a port 0 is void", () => {
  const value = JSON.stringify({ name: "eth0", ports: [{ name: "http", protocol: "tcp", port: 0 }] });
  throws(() => readHostEndpoint({ hostname: "node-a", endpointId: "h" }, value), /"http" cannot be read/);
});

for (const path of [
  "/calico/v1/host/n/workload/k8s/a%2fb/endpoint/eth0",
  "/calico/v1/host/n/endpoint/h",
  "/calico/v1/netset/s",
  "/calico/v1/policy/GlobalNetworkPolicy//p",
  "/calico/v1/policy/tier/t/metadata",
  "/calico/v1/policy/profile/p/rules",
  "/calico/v1/policy/profile/p/labels",
  "/calico/v1/ipam/v4/pool/10.0.0.0-8",
  "/calico/resources/v3/projectcalico.org/nodes/n",
  "/calico/resources/v3/projectcalico.org/kubernetesendpointslices/a/s",
])
  test(`what cannot be read is void, and stops nobody: ${path}`, () => {
    const data = new PolicyData();
    for (const text of ["", "{", "null", "1", "[]", '"x"']) {
      data.set(path, text);
      equal(data.voids.has(path), true, text);
    }
    data.set(path, undefined);
    equal(data.voids.has(path), false);
  });
