import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { endpointPolicies, type FelixKeys } from "./endpoint-policies.ts";

const endpoint = "/calico/v1/host/node-a/workload/k8s/shop%2fweb-0/endpoint/eth0";

function keysOf(entries: { [path: string]: unknown }): FelixKeys {
  const stored = new Map(Object.entries(entries).map(([path, value]) => [path, JSON.stringify(value)]));
  return {
    get: (path) => stored.get(path),
    paths: () => [],
    withPrefix: (prefix) =>
      [...stored].filter(([path]) => path.startsWith(prefix)).map(([path, value]) => ({ path, value })),
  };
}

const cluster = keysOf({
  [endpoint]: { name: "cali123", ipv4_nets: ["10.0.0.9/32"], labels: { app: "web" }, profile_ids: ["kns.shop"] },
  "/calico/v1/policy/profile/kns.shop/labels": { "pcns.team": "shop", app: "from-the-profile" },
  "/calico/v1/policy/tier/default/metadata": { order: 1000000, defaultAction: "Deny" },
  "/calico/v1/policy/tier/early/metadata": { order: 10, defaultAction: "Pass" },
  "/calico/v1/policy/GlobalNetworkPolicy//no-order": { tier: "default", selector: "all()", types: ["ingress"] },
  "/calico/v1/policy/GlobalNetworkPolicy//second": { tier: "default", order: 20, selector: "has(app)" },
  "/calico/v1/policy/NetworkPolicy/shop/first": { tier: "default", order: 10, selector: "app == 'web'" },
  "/calico/v1/policy/GlobalNetworkPolicy//early.team": { tier: "early", order: 1, selector: "pcns.team == 'shop'" },
  "/calico/v1/policy/GlobalNetworkPolicy//other": { tier: "default", order: 1, selector: "app == 'from-the-profile'" },
  "/calico/v1/policy/GlobalNetworkPolicy//broken": { tier: "default", order: 1, selector: "app ==" },
});

test("policies come by tier, then order, with those without an order last", () => {
  const view = endpointPolicies(endpoint, cluster);
  deepEqual(
    view?.tiers.map(({ tier, policies }) => [tier, policies.map(({ name }) => name)]),
    [
      ["early", ["early.team"]],
      ["default", ["first", "second", "no-order"]],
    ],
  );
});

test("a selector sees the labels of the endpoint's profiles, and the endpoint's own label wins", () => {
  const view = endpointPolicies(endpoint, cluster);
  deepEqual({ ...view?.inheritedLabels }, { "pcns.team": "shop", app: "from-the-profile" });
  equal(
    view?.tiers.flatMap(({ policies }) => policies).some(({ name }) => name === "other"),
    false,
  );
});

test("a policy whose selector does not parse is shown with the reason", () => {
  deepEqual(
    endpointPolicies(endpoint, cluster)?.unparsable.map(({ path }) => path),
    ["/calico/v1/policy/GlobalNetworkPolicy//broken"],
  );
});

test("what is not a workload endpoint, or not there, has no answer", () => {
  equal(endpointPolicies("/calico/v1/Ready", cluster), undefined);
  equal(endpointPolicies(endpoint.replace("web-0", "web-1"), cluster), undefined);
});
