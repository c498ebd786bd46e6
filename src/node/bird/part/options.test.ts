// What the environment says to the part that does confd's work.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { birdOptions } from "./options.ts";

const of = (env: { readonly [name: string]: string }) => birdOptions(env, { supervises: false });

const podCidr: [env: { readonly [name: string]: string }, is: boolean][] = [
  [{}, false],
  [{ USE_POD_CIDR: "1" }, true],
  [{ USE_POD_CIDR: "True" }, true],
  [{ CALICO_USE_POD_CIDR: "t" }, true],
  [{ CALICO_USE_POD_CIDR: "false", USE_POD_CIDR: "true" }, false],
];
for (const [env, is] of podCidr) {
  test(`blocks are pod CIDRs with ${JSON.stringify(env)}: ${is}`, () => equal(of(env).bgp.usesPodCidr, is));
}

test("ranges of cluster IPs in the environment, and without", () => {
  equal(of({ CALICO_ADVERTISE_CLUSTER_IPS: "" }).bgp.advertisedClusterIps, undefined);
  deepEqual(of({ CALICO_ADVERTISE_CLUSTER_IPS: "10.0.0.0/24,,fd00::/112" }).bgp.advertisedClusterIps, [
    "10.0.0.0/24",
    "fd00::/112",
  ]);
});
