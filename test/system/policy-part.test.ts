// The part of the agent that enforces policy, in a namespace of its own: what it leaves alone, what it puts back, what it does with what
// the kernel does not take, and what it says of it.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeOwnTables } from "../../src/node/dataplane/index.ts";
import { eventually } from "../kit/eventually.ts";
import { freshNamespace } from "../kit/namespace.ts";
import { noPolicyLab } from "../kit/policy/needs.ts";
import { PartUnderTest } from "../kit/policy/part-under-test.ts";

const skip = noPolicyLab;
const folder = mkdtempSync(join(tmpdir(), "cattail-policy-part-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const pod = "/calico/v1/host/here/workload/k8s/n%2fx/endpoint/eth0";
const workload = (labels: object) =>
  JSON.stringify({ state: "active", name: "cali1", ipv4_nets: ["10.0.0.1/32"], profile_ids: [], labels });
const policyPath = (name: string) => `/calico/v1/policy/GlobalNetworkPolicy//${name}`;
const policy = (rules: readonly object[], selector = "all()") =>
  JSON.stringify({ tier: "default", selector, types: ["ingress"], inbound_rules: rules });
const netSet = (name: string) => `/calico/v1/netset/${name}`;

type World = { readonly part: PartUnderTest; readonly namespace: string; readonly nft: (...words: string[]) => string };

async function inWorld(
  options: { readonly nft?: string; readonly settings?: { readonly [name: string]: string } },
  work: (world: World) => Promise<void>,
): Promise<void> {
  const { name, path } = freshNamespace();
  const nft = (...words: string[]) =>
    execFileSync("ip", ["netns", "exec", name, "nft", ...words], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  execFileSync("ip", ["-n", name, "link", "add", "cali1", "type", "bridge"]);
  execFileSync("ip", ["-n", name, "link", "set", "cali1", "up"]);
  const part = new PartUnderTest({ node: "here", namespace: path, ...options });
  part.say(pod, workload({ a: "1" }));
  part.say(policyPath("one"), policy([{ action: "allow", protocol: "tcp", dst_ports: [80] }]));
  try {
    await work({ part, namespace: name, nft });
  } finally {
    await part.stop();
  }
}

async function begin(part: PartUnderTest): Promise<void> {
  part.start();
  await part.settled();
}

const generation = (nft: World["nft"]) => {
  const [, handle] = /"handle": (\d+)/.exec(nft("-j", "-a", "list", "tables")) ?? [];
  return handle;
};
const messages = (part: PartUnderTest) => part.recorded.lines.map(({ message }) => message);

test("a start that finds its table as it left it changes nothing, counters included", { skip }, () =>
  inWorld({}, async ({ part, nft }) => {
    await begin(part);
    const before = generation(nft);
    const rules = nft("-a", "list", "table", "inet", "cattail");
    await part.stop();
    await begin(part);
    equal(generation(nft), before);
    equal(nft("-a", "list", "table", "inet", "cattail"), rules, "the same rules with the same handles");
  }),
);

test("what changed while nobody was there is the only thing that a start changes", { skip }, () =>
  inWorld({}, async ({ part, nft }) => {
    await begin(part);
    const before = nft("-a", "list", "chain", "inet", "cattail", "forward-2-from-workload");
    await part.stop();
    part.say(policyPath("two"), policy([{ action: "deny", src_selector: "b == '1'" }]));
    await begin(part);
    match(nft("list", "table", "inet", "cattail"), /GlobalNetworkPolicy two rule 1/);
    equal(nft("-a", "list", "chain", "inet", "cattail", "forward-2-from-workload"), before);
  }),
);

test("a flushed ruleset is back at once, sets and rules together, and is said", { skip }, () =>
  inWorld({ settings: { NftablesRefreshInterval: "0", IpsetsRefreshInterval: "0" } }, async ({ part, nft }) => {
    part.say(policyPath("two"), policy([{ action: "allow", src_selector: "b == '1'" }]));
    part.say(netSet("s"), JSON.stringify({ nets: ["198.51.100.0/24"], labels: { b: "1" } }));
    await begin(part);
    const before = nft("-s", "list", "table", "inet", "cattail");
    nft("flush", "ruleset");
    const isBack = () =>
      nft("list", "tables").includes("inet cattail") && nft("-s", "list", "table", "inet", "cattail") === before;
    await eventually(isBack, "the table to be put back", 60_000);
    await eventually(() => messages(part).includes("Somebody else has changed our table; it is put back"), "the log");
    match(await part.metrics.text(), /felix_nft_repairs 1\n/);
  }),
);

test(
  "what cannot be understood is named once, in health as long as it lasts, and once when it is over",
  {
    skip,
  },
  () =>
    inWorld({}, async ({ part }) => {
      await begin(part);
      part.say(policyPath("newer"), policy([{ action: "mirror" }]));
      for (const action of ["allow", "deny"]) {
        part.say(policyPath("one"), policy([{ action }]));
        await part.settled();
      }
      const named = () => part.recorded.lines.filter(({ message }) => message.startsWith("What could"));
      const said = () => part.recorded.lines.filter(({ message }) => message.startsWith("What cannot be understood"));
      deepEqual(
        said().map(({ fields }) => fields),
        [{ object: "GlobalNetworkPolicy newer", why: '"mirror" is no action' }],
      );
      equal(part.detail, "cannot be understood and counts as absent: GlobalNetworkPolicy newer");
      part.say(policyPath("newer"), policy([{ action: "allow" }]));
      await part.settled();
      equal(part.detail, "");
      deepEqual([said().length, named().map(({ fields }) => fields)], [1, [{ object: "GlobalNetworkPolicy newer" }]]);
    }),
);

const edits: readonly { readonly name: string; readonly edit: (nft: World["nft"]) => void }[] = [
  {
    name: "a rule that is added",
    edit: (nft) => void nft("insert", "rule", "inet", "cattail", "forward-2-from-workload", "accept"),
  },
  {
    name: "a chain that is emptied",
    edit: (nft) => void nft("flush", "chain", "inet", "cattail", "forward-3-to-workload"),
  },
  {
    name: "an interface that is led away",
    edit: (nft) => void nft("delete", "element", "inet", "cattail", "map-from-workload", '{ "cali1" }'),
  },
  { name: "a table that is deleted", edit: (nft) => void nft("delete", "table", "inet", "cattail") },
  { name: "a table that is put to sleep", edit: (nft) => void nft("add table inet cattail { flags dormant; }") },
  { name: "the one for ARP that is put to sleep", edit: (nft) => void nft("add table arp cattail { flags dormant; }") },
  {
    name: "a chain that drops what it does not decide",
    edit: (nft) => void nft("add chain inet cattail forward-2-from-workload { policy drop; }"),
  },
  {
    name: "a chain that the kernel starts later than ours",
    edit: (nft) => {
      const chain = "chain inet cattail forward-2-from-workload";
      const hook = "{ type filter hook forward priority 300; policy accept; }";
      nft(
        `flush ${chain}; delete ${chain}; add ${chain} ${hook}; add rule inet cattail forward-2-from-workload accept`,
      );
    },
  },
  {
    name: "elements of a set",
    edit: (nft) => {
      const [, set = ""] = /set (set4-\w+) /.exec(nft("list", "table", "inet", "cattail")) ?? [];
      nft(`delete element inet cattail ${set} { 198.51.100.0/24 }; add element inet cattail ${set} { 0.0.0.0/1 }`);
    },
  },
];
for (const { name, edit } of edits)
  test(`repaired: ${name}`, { skip }, () =>
    inWorld({}, async ({ part, nft }) => {
      part.say(policyPath("two"), policy([{ action: "allow", src_selector: "b == '1'" }]));
      part.say(netSet("s"), JSON.stringify({ nets: ["198.51.100.0/24"], labels: { b: "1" } }));
      await begin(part);
      const listing = () => {
        try {
          return nft("-s", "list table inet cattail; list table arp cattail");
        } catch {
          return ""; // deleted just now
        }
      };
      const before = listing();
      edit(nft);
      await eventually(() => listing() === before, "the table to be as before", 60_000);
    }),
  );

test("others' tables are neither watched over nor touched", { skip }, () =>
  inWorld({}, async ({ part, nft }) => {
    await begin(part);
    nft("add", "table", "inet", "others");
    nft("add", "chain", "inet", "others", "c");
    await part.settled();
    nft("delete", "table", "inet", "others");
    await part.settled();
    ok(!messages(part).some((message) => message.includes("Somebody else")));
  }),
);

test("a policy that the kernel refuses denies, is named, and stops nothing else", { skip }, () =>
  inWorld({ nft: refusing("GlobalNetworkPolicy two rule 1") }, async ({ part, nft }) => {
    part.say(policyPath("two"), policy([{ action: "allow", src_selector: "b == '1'" }]));
    part.say(policyPath("three"), policy([{ action: "allow", protocol: "udp", dst_ports: [53] }]));
    await begin(part);
    const text = nft("-s", "list", "table", "inet", "cattail");
    match(text, /counter drop comment "GlobalNetworkPolicy two is refused by the kernel and denies/);
    match(text, /dport 80 counter accept comment "GlobalNetworkPolicy one rule 1/);
    match(text, /dport 53 counter accept comment "GlobalNetworkPolicy three rule 1/);
    match(part.detail, /the kernel refuses GlobalNetworkPolicy two/);
    match(await part.metrics.text(), /felix_nft_refused_policies 1\n/);
    const said = part.recorded.lines.filter(({ level }) => level === "error");
    deepEqual(
      said.map(({ fields }) => fields.policy),
      ["GlobalNetworkPolicy two"],
    );

    part.say(policyPath("one"), policy([{ action: "allow", protocol: "tcp", dst_ports: [81] }]));
    await part.settled();
    match(nft("list", "table", "inet", "cattail"), /dport 81/, "others go on changing");

    part.say(
      policyPath("two"),
      policy([{ action: "deny" }, { action: "allow", src_selector: "b == '1'" }], "a == '1'"),
    );
    part.say(policyPath("two"), undefined);
    await part.settled();
    equal(part.detail, "");
    match(await part.metrics.text(), /felix_nft_refused_policies 0\n/);
  }),
);

test("denied packets are answered, with host endpoints too, and no longer once the setting has gone", { skip }, () =>
  inWorld({ settings: { NftablesFilterDenyAction: "Reject" } }, async ({ part, nft }) => {
    part.say(
      "/calico/v1/host/here/endpoint/h",
      JSON.stringify({ name: "eth0", labels: { a: "1" }, profile_ids: ["p"] }),
    );
    part.say("/calico/v1/policy/profile/p/rules", JSON.stringify({ outbound_rules: [{ action: "deny" }] }));
    await begin(part);
    const rejecting = nft("list", "table", "inet", "cattail");
    match(rejecting, /chain pol-i-\w+ \{/);
    match(rejecting, /counter packets 0 bytes 0 reject .*"end of tier default/);
    match(rejecting, /chain pro-e-\w+-drops \{\n\t+counter packets 0 bytes 0 drop/);
    part.configure({ NftablesFilterDenyAction: "Drop" });
    await part.settled();
    equal(/reject|-drops/.test(nft("list", "table", "inet", "cattail")), false);
  }),
);

test("what the original left goes when ours is in force, and ours goes when it is asked to", { skip }, () =>
  inWorld({}, async ({ part, namespace, nft }) => {
    for (const [family, table] of [
      ["ip", "calico"],
      ["ip6", "calico"],
      ["arp", "calico-arp"],
    ]) {
      nft("add", "table", family ?? "", table ?? "");
      nft("add", "chain", family ?? "", table ?? "", "filter-x");
    }
    const iptables = (...words: string[]) => execFileSync("ip", ["netns", "exec", namespace, "iptables-nft", ...words]);
    iptables("-N", "cali-FORWARD");
    iptables("-N", "cali-to-x");
    iptables("-A", "cali-FORWARD", "-j", "cali-to-x");
    iptables("-A", "FORWARD", "-m", "comment", "--comment", "cali:abc", "-j", "cali-FORWARD");
    iptables("-A", "FORWARD", "-s", "192.0.2.9", "-j", "DROP");
    await begin(part);
    const left = nft("list", "ruleset");
    ok(!/table (?:ip|ip6|arp) calico/.test(left), left);
    ok(!left.includes("cali-"), left);
    match(left, /ip saddr 192\.0\.2\.9 .*drop/, "others' rules stay");
    await part.stop();
    await removeOwnTables({ namespace: `/run/netns/${namespace}` });
    ok(!nft("list", "tables").includes("inet cattail"));
    await removeOwnTables({ namespace: `/run/netns/${namespace}` });
  }),
);

test("a pod has its file once its rules are in and its interface is up, and loses it with either", { skip }, () =>
  inWorld({}, async ({ part, namespace }) => {
    await begin(part);
    const status = join(part.statusFolder, "endpoint-status");
    const file = join(status, "k8s n%2Fx eth0");
    deepEqual(JSON.parse(readFileSync(file, "utf8")), { ifaceName: "cali1", ipv4Nets: ["10.0.0.1/32"] });
    execFileSync("ip", ["-n", namespace, "link", "set", "cali1", "down"]);
    await eventually(() => !existsSync(file), "the file to go with the link");
    execFileSync("ip", ["-n", namespace, "link", "set", "cali1", "up"]);
    await eventually(() => existsSync(file), "the file to come back");
    unlinkSync(file);
    await eventually(() => existsSync(file), "the file to be put back", 60_000);
    part.say(pod, undefined);
    await part.settled();
    deepEqual(readdirSync(status), []);
  }),
);

test("a node that has just booted closes pods' interfaces before it knows anything; one with pods is left as it is", {
  skip,
}, async () => {
  const { name, path } = freshNamespace();
  const tables = () => execFileSync("ip", ["netns", "exec", name, "nft", "list", "tables"], { encoding: "utf8" });
  const fresh = new PartUnderTest({ node: "here", namespace: path });
  fresh.hold();
  fresh.start();
  await eventually(() => tables().includes("inet cattail"), "the closed table");
  await fresh.stop();
  await removeOwnTables({ namespace: path });
  execFileSync("ip", ["-n", name, "link", "add", "cali1", "type", "bridge"]);
  const running = new PartUnderTest({ node: "here", namespace: path });
  running.hold();
  running.start();
  await eventually(() => running.reports > 0 || running.isFollowing, "the part to run");
  equal(tables(), "");
  await running.stop();
});

/** An nft that refuses what holds the text. */
function refusing(text: string): string {
  const file = join(folder, "nft");
  writeFileSync(
    file,
    `#!/bin/bash\nif [ "$1" = -f ]; then input=$(cat); case "$input" in *'${text}'*) echo 'Error: no such thing' >&2; exit 1;; esac; exec nft -f - <<<"$input"; fi\nexec nft "$@"\n`,
  );
  chmodSync(file, 0o755);
  return file;
}

test("the host answers ARP for others on a pod's interface, and never for the pod's own address", {
  skip,
}, async () => {
  const [node, pod1] = [freshNamespace(), freshNamespace()];
  const run = (name: string, ...words: string[]) =>
    execFileSync("ip", ["netns", "exec", name, ...words], { encoding: "utf8" });
  const ip = (name: string, words: string) => execFileSync("ip", ["-n", name, ...words.split(" ")]);
  ip(node.name, `link add cali1 type veth peer name eth0 netns ${pod1.name}`);
  ip(node.name, "link add away type bridge");
  for (const device of ["cali1", "away"]) ip(node.name, `link set ${device} up`);
  // As before the pod has its route: everything goes elsewhere, so the host offers itself for it.
  ip(node.name, "addr add 192.0.2.1/24 dev away");
  ip(node.name, "route add default via 192.0.2.2");
  const sysctls = ["ipv4/conf/cali1/proxy_arp=1", "ipv4/conf/cali1/forwarding=1", "ipv4/neigh/cali1/proxy_delay=0"];
  for (const setting of sysctls) run(node.name, "sysctl", "-qw", `net/${setting}`);
  ip(pod1.name, "link set eth0 up");
  ip(pod1.name, "addr add 10.0.0.99/32 dev eth0");
  for (const address of ["10.0.0.1", "10.0.0.2"]) ip(pod1.name, `route add ${address} dev eth0`);
  const part = new PartUnderTest({ node: "here", namespace: node.path });
  part.say(pod, workload({}));
  try {
    await begin(part);
    const isAnswered = async (address: string) => {
      const neighbour = () => run(pod1.name, "ip", "neigh", "show", address);
      run(pod1.name, "ip", "neigh", "flush", "all");
      let seen = "";
      await eventually(() => {
        seen = neighbour();
        // The kernel soon forgets a search that has failed, perhaps before we have looked.
        if (seen === "") run(pod1.name, "bash", "-c", `echo x > /dev/udp/${address}/9`);
        return /lladdr|FAILED/.test(seen);
      }, `an end of the search for ${address}`);
      return seen.includes("lladdr");
    };
    deepEqual([await isAnswered("10.0.0.2"), await isAnswered("10.0.0.1")], [true, false]);
    // What the pod has no longer is anybody's.
    part.say(pod, undefined);
    await part.settled();
    equal(await isAnswered("10.0.0.1"), true);
    // Somebody removes the table: it is put back like the other one.
    part.say(pod, workload({}));
    await part.settled();
    run(node.name, "nft", "delete", "table", "arp", "cattail");
    await eventually(
      () => /"cali1" . 10.0.0.1/.test(run(node.name, "nft", "list", "ruleset")),
      "the table to be put back",
    );
    equal(await isAnswered("10.0.0.1"), false);
    await part.stop();
    await removeOwnTables({ namespace: node.path });
    equal(run(node.name, "nft", "list", "tables"), "");
  } finally {
    await part.stop();
  }
});

test("with the program nft instead of its library everything is the same", { skip }, () =>
  inWorld({ nft: "nft" }, async ({ part, nft }) => {
    await begin(part);
    part.say(policyPath("two"), policy([{ action: "deny", src_selector: "b == '1'" }]));
    await part.settled();
    match(nft("list", "table", "inet", "cattail"), /GlobalNetworkPolicy two rule 1/);
    match(nft("list", "table", "arp", "cattail"), /"cali1" . 10.0.0.1/);
  }),
);

test("every metric of policy has a value, also those by result and by strategy", { skip }, () =>
  inWorld({}, async ({ part }) => {
    part.say(policyPath("two"), policy([{ action: "allow", src_selector: "a == '1' || has(b)" }]));
    part.say(policyPath("three"), policy([{ action: "allow", src_selector: "a == '1'" }]));
    await begin(part);
    const text = await part.metrics.text();
    for (const row of [
      'felix_label_index_selector_evals{result="true"} 2',
      'felix_label_index_strategy_evals{strategy="single-value"} 1',
      'felix_label_index_strategy_evals{strategy="label-name"} 1',
      "felix_nft_maps 10",
    ])
      ok(text.includes(`${row}\n`), `${row}\n${text}`);
  }),
);
