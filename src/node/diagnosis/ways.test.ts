// What is found of ways that are broken in part: a reverse path filter, which IPv6 does not have, and a path for small packets only.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { both, codesOf, failing, inIpv6, lookup, onHost, whole } from "../../../test/kit/healthy-facts.ts";
import { diagnoseFamily } from "./diagnose.ts";
import { walkPath } from "./path/walk.ts";

test("nodes that do not hear each other, because one has its way back elsewhere, and a strict filter", () => {
  const filtering = onHost(
    (host) => ({
      ...failing("node", "large", "pod", "pod to pod", "arrival")(host),
      lookups: [...host.lookups, { to: "172.31.0.11", type: "unicast", link: "eth1" }],
      sysctls: { ...host.sysctls, "net.ipv4.conf.eth0.rp_filter": "1" },
    }),
    "n2",
  );
  deepEqual(codesOf(diagnoseFamily(filtering)), ["REVERSE_PATH_FILTER"]);
});

test("a strict filter that drops what pods send, while the node itself is answered by the other interface", () => {
  const facts = onHost(
    both(failing("pod to pod"), lookup({ link: "eth1", gateway: "172.31.9.11" }), (host) => ({
      sysctls: { ...host.sysctls, "net.ipv4.conf.all.rp_filter": "1" },
      reversePathDrops: 3,
    })),
    "n2",
  );
  deepEqual(codesOf(diagnoseFamily(facts)), ["REVERSE_PATH_FILTER"]);
});

test("a path that takes small packets only is broken by that", () => {
  const facts = onHost(failing("large"), "n2");
  const end = (name: string, own: 1 | 2) =>
    ({ is: "pod", name: `default/${name}`, address: `10.244.${own}.0`, node: `n${own}` }) as const;
  const { cause } = walkPath({
    family: 4,
    from: end("a", 1),
    to: end("b", 2),
    facts: whole(facts, { ...inIpv6(facts), hosts: [] }),
    verdict: undefined,
  });
  deepEqual(cause?.code, "MTU_PATH");
});
