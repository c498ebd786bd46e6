// What is filled in, as the original was recorded to store it (test/vectors/golden/ctl, by hand), and what holds for any object.
import { deepEqual, doesNotThrow, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { likelyResource } from "../../../test/kit/likely-object.ts";
import { cleanJson, readSchema } from "../model/index.ts";
import {
  customKinds,
  customResourceInfo,
  type Kind,
  schemaProblems,
  validate,
  withDefaults,
  withSchemaDefaults,
} from "./index.ts";

const named = (spec: object, metadata = {}) => ({ metadata: { name: "a", ...metadata }, spec });
const inDefaultTier = { labels: { "projectcalico.org/tier": "default" } };

const cases: { name: string; kind: Kind; given: object; stored: object }[] = [
  {
    name: "a pool of IPv4",
    kind: "IPPool",
    given: named({ cidr: "10.1.0.0/16" }),
    stored: named({
      cidr: "10.1.0.0/16",
      nodeSelector: "all()",
      blockSize: 26,
      allowedUses: ["Workload", "Tunnel"],
      ipipMode: "Never",
      vxlanMode: "Never",
      assignmentMode: "Automatic",
    }),
  },
  {
    name: "a pool of IPv6, whose text becomes canonical",
    kind: "IPPool",
    given: named({ cidr: "FD00:10:0::/48", vxlanMode: "Always" }),
    stored: named({
      cidr: "fd00:10::/48",
      vxlanMode: "Always",
      nodeSelector: "all()",
      blockSize: 122,
      allowedUses: ["Workload", "Tunnel"],
      ipipMode: "Never",
      assignmentMode: "Automatic",
    }),
  },
  {
    name: "a pool of IPv4 that is written as IPv6",
    kind: "IPPool",
    given: named({ cidr: "::ffff:10.62.0.0/112" }),
    stored: named({
      cidr: "10.62.0.0/16",
      nodeSelector: "all()",
      blockSize: 26,
      allowedUses: ["Workload", "Tunnel"],
      ipipMode: "Never",
      vxlanMode: "Never",
      assignmentMode: "Automatic",
    }),
  },
  {
    name: "a policy without rules",
    kind: "GlobalNetworkPolicy",
    given: named({ selector: "all()" }),
    stored: named({ selector: "all()", types: ["Ingress"] }, inDefaultTier),
  },
  {
    name: "a policy with egress rules only",
    kind: "NetworkPolicy",
    given: named({ tier: "t", egress: [{ action: "Deny" }] }),
    stored: named(
      { tier: "t", egress: [{ action: "Deny" }], types: ["Egress"] },
      { labels: { "projectcalico.org/tier": "t" } },
    ),
  },
  {
    name: "a policy with rules of both kinds",
    kind: "StagedNetworkPolicy",
    given: named({ ingress: [{ action: "Pass" }], egress: [{ action: "Deny" }] }),
    stored: named(
      { ingress: [{ action: "Pass" }], egress: [{ action: "Deny" }], types: ["Ingress", "Egress"] },
      inDefaultTier,
    ),
  },
  { name: "a tier", kind: "Tier", given: named({}), stored: named({ order: 1_000_000, defaultAction: "Deny" }) },
  {
    name: "Felix's settings",
    kind: "FelixConfiguration",
    given: named({}),
    stored: named({
      floatingIPs: "Disabled",
      bpfConnectTimeLoadBalancing: "TCP",
      bpfHostNetworkedNATWithoutCTLB: "Enabled",
    }),
  },
  {
    name: "Felix's settings, with the switch of old",
    kind: "FelixConfiguration",
    given: named({ bpfConnectTimeLoadBalancingEnabled: true }),
    stored: named({
      bpfConnectTimeLoadBalancingEnabled: true,
      bpfConnectTimeLoadBalancing: "Enabled",
      bpfHostNetworkedNATWithoutCTLB: "Disabled",
      floatingIPs: "Disabled",
    }),
  },
  {
    name: "the controllers that are there",
    kind: "KubeControllersConfiguration",
    given: named({ controllers: { node: { reconcilerPeriod: "5m" }, loadBalancer: {} } }),
    stored: named({
      prometheusMetricsPort: 9094,
      controllers: {
        node: { reconcilerPeriod: "5m0s", leakGracePeriod: "15m0s" },
        loadBalancer: { assignIPs: "AllServices" },
      },
    }),
  },
  { name: "what has no defaults stays itself", kind: "BGPPeer", given: named({}), stored: named({}) },
];
for (const { name, kind, given, stored } of cases) {
  test(`filled in: ${name}`, () => deepEqual(withDefaults(kind, given), stored));
}

test("the schema's own defaults come where a member is missing, inside lists too", () => {
  const { spec } = Object(withSchemaDefaults("BGPConfiguration", named({})));
  deepEqual(spec, { logSeverityScreen: "Info", serviceLoadBalancerAggregation: "Enabled" });
});

for (const kind of customKinds) {
  test(`any ${kind}: filling in twice is filling in once, and what is accepted can be read and written`, () => {
    const { spec } = customResourceInfo(kind).schema;
    let accepted = 0;
    fc.assert(
      fc.property(likelyResource(kind, "default"), (object) => {
        const once = withDefaults(kind, object);
        deepEqual(withDefaults(kind, once), once);
        const all = withSchemaDefaults(kind, once);
        deepEqual(withSchemaDefaults(kind, all), all);
        if (validate(kind, object).length > 0) return;
        accepted += 1;
        const clean = Object(cleanJson(object));
        const written = spec.go.write(readSchema(spec, clean.spec, "spec"));
        doesNotThrow(() => readSchema(spec, cleanJson(JSON.parse(written)), "spec"), written);
        ok(schemaProblems(kind, object).every(({ field, rule }) => rule !== "" && !field.startsWith(".")));
      }),
      { numRuns: 100 },
    );
    ok(accepted > 0, "none was accepted, so nothing was tried");
  });
}
