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

/** All transactions that there are to be made, as if the kernel took each. */
function* made(ruleset: NftRuleset): Generator<string, void, undefined> {
  for (let next = ruleset.transaction(); next !== undefined; next = ruleset.transaction()) {
    yield next.text;
    next.taken();
  }
}
/** Without the stamps, which are hashes, and without the table's name. */
const textOf = (builder: RulesetBuilder) =>
  [...made(builder.ruleset)]
    .join("")
    .replace(/ comment "#\w{10}"/g, "")
    .replace(/ #\w{10}"/g, '"')
    .replaceAll(" inet cattail", "");
const keys = (ruleset: NftRuleset, map: string) => [...ruleset.elements(map).keys()];
const workload = { state: "active", name: "cali1", ipv4_nets: ["10.0.0.1/32"] };

test("a pod's interface leads to its chains, both ways", () => {
  const { ruleset } = built({ [pod]: workload });
  deepEqual([keys(ruleset, "map-from-workload"), keys(ruleset, "map-to-workload")], [['"cali1"'], ['"cali1"']]);
});

// A packet that came in before may still see the chain empty; after a "goto" it would then be accepted (seen: 4 packets of 8,739 new pods).
test("whoever is led to a chain that is empty to him comes back to what closes the interface", () => {
  const { ruleset } = built({ [pod]: workload, [host]: { name: "eth0", labels: null } });
  const values = ["map-from-workload", "map-to-workload", "map-host-in", "map-translated-out"].flatMap((map) => [
    ...ruleset.elements(map).values(),
  ]);
  deepEqual(
    values.map((value) => value.split(" ")[0]),
    ["jump", "jump", "jump", "jump"],
  );
  for (const base of ["forward-2-from-workload", "forward-3-to-workload", "input-1-from-workload"])
    match(ruleset.chain(base)?.rules.at(-1) ?? "", /"cali\*" counter drop comment "an interface without endpoint"$/);
  // An endpoint of a host that has nothing to say ends what it governs, too: another one would be asked otherwise.
  for (const value of ["map-forward-in", "map-forward-out", "map-before-nat", "map-untracked-in"].flatMap((map) => [
    ...ruleset.elements(map).values(),
  ]))
    equal(ruleset.chain(value.replace("jump ", ""))?.rules.at(-1), "accept", value);
});

test("what the host sends to translated addresses is never answered with a refusal: nft has none after routing", () => {
  const values = {
    [host]: { name: "eth0", labels: { h: "1" }, profile_ids: ["p"] },
    "/calico/v1/policy/profile/p/rules": { outbound_rules: [{ action: "deny" }] },
    [policyPath]: { tier: "default", selector: "has(h)", types: ["egress"], outbound_rules: [{ action: "deny" }] },
  };
  const { ruleset } = built(values, { NftablesFilterDenyAction: "Reject" });
  const below = (chain: string): string =>
    (ruleset.chain(chain)?.rules ?? [])
      .map((rule) => `${rule}\n${below(/(?:jump|goto) (\S+)/.exec(rule)?.[1] ?? "")}`)
      .join("");
  const [led = ""] = [...ruleset.elements("map-translated-out").values()];
  const [ordinary = ""] = [...ruleset.elements("map-host-out").values()];
  equal(/reject/.test(below(led.replace("jump ", ""))), false);
  match(below(led.replace("jump ", "")), /rule 1/);
  match(below(ordinary.replace("jump ", "")), /reject comment "GlobalNetworkPolicy p rule 1"/);
});

test("to deny is to refuse with an answer for pods' interfaces, too", () => {
  const { ruleset } = built({}, { NftablesFilterDenyAction: "Reject" });
  for (const chain of ["forward-2-from-workload", "forward-3-to-workload", "input-1-from-workload"])
    match(ruleset.chain(chain)?.rules.at(-1) ?? "", /counter reject comment "an interface without endpoint"/);
});

test("what somebody else has left untracked is policed like the rest", () => {
  const text = textOf(built({ [host]: { name: "eth0", labels: null } }));
  equal(/ct state [a-z,]*untracked/.test(text), false);
});

test("pods that are policed alike share their chains", () => {
  const values = { [pod]: workload, [another]: { ...workload, name: "cali2", ipv4_nets: ["10.0.0.2/32"] } };
  const added = [...textOf(built(values)).matchAll(/add chain (ep-workload|pods)-/g)].map(([, what]) => what);
  deepEqual(added.toSorted(), ["ep-workload", "ep-workload", "ep-workload", "ep-workload", "pods", "pods"]);
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
  match(
    textOf(allowed),
    /iifname "cali1" ip saddr 203\.0\.113\.0\/24 accept\nadd rule raw-prerouting iifname "cali\*" fib saddr/,
  );
});

test("an endpoint that is not active lets nothing pass", () => {
  match(
    textOf(built({ [pod]: { ...workload, state: "inactive" } })),
    /rule pods-e-\w+ counter drop comment "the endpoint is not active"\n/,
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
  match(text, /iifname "lo" accept\n.*iifname vmap @map-host-in\n.*iifname "kube-ipvs0" accept .*\n.* goto ep-host-i-/);
  equal(/map-untracked-in\n.* goto/.test(text), false);
});

test("chains that only host endpoints need are there only while there is one", () => {
  const index = new NodePolicy("here");
  const builder = built({ [pod]: workload });
  const hooks = () =>
    [...made(builder.ruleset)]
      .join("")
      .match(/(?:add|delete) chain inet cattail (?:before-nat|forward-[14]|output)\S*/g);
  equal(hooks(), null);
  for (const [value, what] of [
    [JSON.stringify({ name: "eth0", labels: null }), "add"],
    [undefined, "delete"],
  ] as const) {
    index.update(host, value);
    builder.take(index.takeChanges());
    const names = [
      "before-nat",
      "forward-1-host-in",
      "forward-4-host-out",
      "output-1-from-host",
      "output-2-translated",
    ];
    deepEqual(
      hooks()?.toSorted(),
      names.map((name) => `${what} chain inet cattail ${name}`),
    );
  }
});

test("settings take effect with the next transaction", () => {
  const builder = built({ [pod]: workload });
  for (const _ of made(builder.ruleset));
  equal(builder.ruleset.transaction(), undefined);
  builder.configure(
    dataplaneSettings({ raw: (name) => (name === "DefaultEndpointToHostAction" ? "Accept" : undefined) }),
  );
  match(textOf(builder), /flush chain input-2-to-host/);
});

/** What each transaction does: its commands and what they are about, without repetitions. */
const steps = (ruleset: NftRuleset) =>
  [...made(ruleset)].map((text) => [
    ...new Set(
      text
        .trim()
        .split("\n")
        .map((line) => line.split(" ").slice(0, 2).join(" ")),
    ),
  ]);

type Said = { readonly [path: string]: object | undefined };
const policyPath = "/calico/v1/policy/GlobalNetworkPolicy//p";
const other = "/calico/v1/host/there/workload/k8s/n%2fy/endpoint/eth0";
const another = "/calico/v1/host/here/workload/k8s/n%2fz/endpoint/eth0";
const third = "/calico/v1/host/here/workload/k8s/n%2f3/endpoint/eth0";
const labelled = (labels: object, name = "cali1", address = "10.0.0.1/32") => ({
  ...workload,
  name,
  ipv4_nets: [address],
  labels,
});
const allowing = (...selectors: readonly string[]) => ({
  tier: "default",
  selector: "all()",
  types: ["ingress"],
  inbound_rules: selectors.map((src_selector) => ({ action: "allow", src_selector })),
});
const before: Said = {
  [pod]: labelled({ a: "1" }),
  [third]: labelled({ b: "1" }, "cali3", "10.0.0.3/32"),
  [other]: labelled({ a: "1" }, "cali9", "10.0.0.9/32"),
  [policyPath]: allowing("a == '1'"),
};

// Rules and elements never change in one transaction: packets see rules of one moment and elements of another.
const changes: readonly { readonly name: string; readonly said: Said; readonly steps: readonly string[][] }[] = [
  {
    name: "a set comes a transaction before the rules that ask it, and goes a transaction after them",
    said: { [policyPath]: allowing("has(a)") },
    steps: [["add set"], ["flush chain", "add rule"], ["delete set"]],
  },
  {
    name: "elements alone are one transaction",
    said: { [other]: undefined },
    steps: [["flush set", "add set"]],
  },
  {
    name: "rules and elements of a set that they ask: the set is made anew, filled ahead, and goes after",
    said: { [policyPath]: allowing("a == '1'", "a == '1'"), [other]: undefined },
    steps: [["add set"], ["flush chain", "add rule"], ["delete set"]],
  },
  {
    name: "a pod that comes: elements first, then its interface is led somewhere",
    said: { [another]: labelled({ a: "1" }, "cali2", "10.0.0.2/32") },
    steps: [["add set"], ["add chain", "add rule", "add map"]],
  },
  {
    name: "a pod that goes: its interface first, then elements",
    said: { [pod]: undefined, [another]: labelled({ a: "1" }, "cali2", "10.0.0.2/32") },
    steps: [
      ["flush chain", "flush map", "add map", "delete chain"],
      ["flush set", "add set"],
      ["add chain", "add rule", "add map"],
    ],
  },
];
for (const { name, said, steps: wanted } of changes)
  test(name, () => {
    const index = new NodePolicy("here");
    const builder = new RulesetBuilder(dataplaneSettings({ raw: () => undefined }));
    const say = (values: Said) => {
      for (const [path, value] of Object.entries(values))
        index.update(path, value === undefined ? undefined : JSON.stringify(value));
      builder.take(index.takeChanges());
    };
    say(before);
    deepEqual(steps(builder.ruleset)[0], ["create table", "add set"]);
    say(said);
    deepEqual(steps(builder.ruleset), wanted);
  });

test("an address that moves between two sets is in both for a moment, not in neither", () => {
  const index = new NodePolicy("here");
  const builder = new RulesetBuilder(dataplaneSettings({ raw: () => undefined }));
  const say = (values: Said) => {
    for (const [path, value] of Object.entries(values)) index.update(path, JSON.stringify(value));
    builder.take(index.takeChanges());
  };
  say({ ...before, [policyPath]: allowing("a == '1'", "a == '2'") });
  for (const _ of made(builder.ruleset));
  say({ [other]: labelled({ a: "2" }, "cali9", "10.0.0.9/32") });
  const texts = [...made(builder.ruleset)];
  deepEqual(
    texts.map((text) => [text.includes("flush set"), text.includes("10.0.0.9")]),
    [
      [false, true],
      [true, false],
    ],
  );
});

test("a pod's own address is not the host's to answer for, on its own interface", () => {
  const index = new NodePolicy("here");
  const builder = new RulesetBuilder(dataplaneSettings({ raw: () => undefined }));
  const say = (value: object | undefined) => {
    index.update(pod, value === undefined ? undefined : JSON.stringify(value));
    builder.take(index.takeChanges());
    return [...builder.arp.elements("own-addresses").keys()];
  };
  deepEqual(
    [
      say({ ...workload, ipv6_nets: ["fd00::1/128"] }),
      say({ ...workload, ipv4_nets: ["10.0.0.7/32"] }),
      say(undefined),
    ],
    [['"cali1" . 10.0.0.1'], ['"cali1" . 10.0.0.7'], []],
  );
  equal([...made(builder.arp)].join("").startsWith("create table arp cattail\n"), true);
});

test("one port to hide behind is a range of one", () => {
  const rules = built({}, { NATPortRange: "1000" }).ruleset.chain("nat-outgoing")?.rules ?? [];
  match(rules[0] ?? "", /masquerade to :1000-1000$/);
});

test("prefixes of pods' interfaces may begin with any character, and may be as long as a name", () => {
  const rules =
    built({}, { InterfacePrefix: "_x,abcdefghijklmno" }).ruleset.chain("forward-2-from-workload")?.rules ?? [];
  match(rules[1] ?? "", /^iifname "_x\*" counter drop /);
  match(rules[2] ?? "", /^iifname "abcdefghijklmno" counter drop /);
});

// What only labels mean is in tiers and sets; everything else of an endpoint makes chains, maps or own addresses.
test("an endpoint is made anew when something changes that packets meet", () => {
  const index = new NodePolicy("here");
  const builder = new RulesetBuilder(
    dataplaneSettings({ raw: (name) => (name === "WorkloadSourceSpoofing" ? "Any" : undefined) }),
  );
  const isChangedBy = (value: object) => {
    index.update(pod, JSON.stringify(value));
    builder.take(index.takeChanges());
    return [...made(builder.ruleset), ...made(builder.arp)].length > 0;
  };
  isChangedBy(workload);
  equal(isChangedBy({ ...workload, labels: { a: "1" } }), false);
  const others = [
    { ...workload, state: "inactive" },
    { ...workload, name: "cali2" },
    { ...workload, ipv4_nets: ["10.0.0.2/32"] },
    { ...workload, profile_ids: ["p"] },
    { ...workload, allow_spoofed_source_ips: ["203.0.113.0/24"] },
  ];
  for (const other of others)
    deepEqual([isChangedBy(other), isChangedBy(workload)], [true, true], JSON.stringify(other));
});

test("marks and ports are read as the settings' table reads them", () => {
  const { ruleset } = built({ [pod]: workload }, { NftablesMarkMask: "0700", VXLANPort: "010" });
  match(ruleset.chain("raw-prerouting")?.rules.join() ?? "", /meta mark set meta mark and 0xfffffe3f/);
  const pods = [...ruleset.elements("map-from-workload").values()][0]?.replace("jump ", "") ?? "";
  const shared = ruleset.chain(pods)?.rules[0]?.replace("goto ", "") ?? "";
  match(ruleset.chain(shared)?.rules.join() ?? "", /th dport 8 counter drop comment "VXLAN from a pod"/);
});
