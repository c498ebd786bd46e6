// What endpoints become in the table: which interface is led where, and what is not led anywhere and so closed.
import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { parseRange } from "../../../base/lib/index.ts";
import { NodePolicy } from "../../../calico/policy/index.ts";
import { dataplaneSettings } from "../settings.ts";
import { RulesetBuilder } from "./build.ts";
import type { NftRuleset } from "./ruleset.ts";

const pod = "/calico/v1/host/here/workload/k8s/n%2fx/endpoint/eth0";
const host = "/calico/v1/host/here/endpoint/h";

function built(
  values: { readonly [path: string]: object },
  settings: { readonly [name: string]: string } = {},
): RulesetBuilder {
  const index = new NodePolicy("here");
  for (const [path, value] of Object.entries(values)) index.update(path, JSON.stringify(value));
  const builder = new RulesetBuilder(dataplaneSettings({ raw: (name) => settings[name] }));
  builder.take(index.takeChanges());
  return builder;
}

/** Without the stamps, which are hashes. */
const textOf = (builder: RulesetBuilder) =>
  (builder.ruleset.transaction()?.text ?? "").replace(/ comment "#\w{10}"/g, "").replace(/ #\w{10}"/g, '"');
const keys = (ruleset: NftRuleset, map: string) => [...ruleset.elements(map).keys()];
const workload = { state: "active", name: "cali1", ipv4_nets: ["10.0.0.1/32"] };

test("a pod's interface leads to its chains, both ways", () => {
  const { ruleset } = built({ [pod]: workload });
  deepEqual([keys(ruleset, "map-from-workload"), keys(ruleset, "map-to-workload")], [['"cali1"'], ['"cali1"']]);
});

test("an interface whose name is none is led nowhere, and stands nowhere in the text", () => {
  const builder = built({ [pod]: { ...workload, name: 'x" drop; }' } });
  deepEqual(keys(builder.ruleset, "map-from-workload"), []);
  equal(textOf(builder).includes("drop; }"), false);
});

test("a pod that may send from other addresses is closed, unless the node allows it", () => {
  const asking = { [pod]: { ...workload, allow_spoofed_source_ips: ["203.0.113.0/24"] } };
  deepEqual(keys(built(asking).ruleset, "map-from-workload"), []);
  const allowed = built(asking, { WorkloadSourceSpoofing: "Any" });
  deepEqual(keys(allowed.ruleset, "map-from-workload"), ['"cali1"']);
  match(textOf(allowed), /iifname "cali1" ip saddr 203\.0\.113\.0\/24 accept\n\s+iifname "cali\*" fib saddr/);
});

test("an endpoint that is not active lets nothing pass", () => {
  match(
    textOf(built({ [pod]: { ...workload, state: "inactive" } })),
    /chain ep-workload-e-\w+ \{\n\s+counter drop comment "the endpoint is not active"\n\s+\}/,
  );
});

test("a profile that is not known denies at its place", () => {
  match(
    textOf(built({ [pod]: { ...workload, profile_ids: ["gone"] } })),
    /counter drop comment "profile gone is not known"/,
  );
});

test("a host endpoint without a name governs the interface that carries its address", () => {
  const builder = built({ [host]: { expected_ipv4_addrs: ["192.0.2.1"], labels: null } });
  deepEqual(keys(builder.ruleset, "map-host-in"), []);
  const address = parseRange("192.0.2.1");
  builder.takeInterfaces([{ name: "eth7", addresses: address === undefined ? [] : [address] }]);
  deepEqual(keys(builder.ruleset, "map-host-in"), ['"eth7"']);
});

test("a host endpoint for all interfaces governs those that no other one does, and never loopback", () => {
  const text = textOf(built({ [host]: { name: "*", labels: null } }));
  match(
    text,
    /iifname "lo" accept\n\s+iifname vmap @map-host-in\n\s+iifname "kube-ipvs0" accept .*\n\s+goto ep-host-i-/,
  );
  equal(/map-untracked-in\n\s+goto/.test(text), false);
});

test("settings take effect with the next transaction", () => {
  const builder = built({ [pod]: workload });
  builder.ruleset.transaction()?.taken();
  equal(builder.ruleset.transaction(), undefined);
  builder.configure(
    dataplaneSettings({ raw: (name) => (name === "DefaultEndpointToHostAction" ? "Accept" : undefined) }),
  );
  match(textOf(builder), /flush chain inet cattail input-2-to-host/);
});

test("a set comes a transaction before the rules that ask it, and goes a transaction after them", () => {
  const index = new NodePolicy("here");
  const builder = new RulesetBuilder(dataplaneSettings({ raw: () => undefined }));
  const allowing = (selector: string) => {
    const value = {
      selector: "all()",
      types: ["ingress"],
      inbound_rules: [{ action: "allow", src_selector: selector }],
    };
    index.update("/calico/v1/policy/GlobalNetworkPolicy//p", JSON.stringify({ tier: "default", ...value }));
    builder.take(index.takeChanges());
  };
  index.update(pod, JSON.stringify({ ...workload, labels: { a: "1" } }));
  allowing("a == '1'");
  builder.ruleset.transaction()?.taken();
  allowing("has(a)");
  const kinds: string[][] = [];
  for (let next = builder.ruleset.transaction(); next !== undefined; next = builder.ruleset.transaction()) {
    const words = next.text
      .trim()
      .split("\n")
      .map((line) => line.split(" ").slice(0, 2).join(" "));
    kinds.push([...new Set(words)]);
    next.taken();
  }
  deepEqual(kinds, [["add set"], ["flush chain", "add rule"], ["delete set"]]);
});
