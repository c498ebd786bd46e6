// Probes while policies change, pods come and go, and the agent is killed and started again: what is allowed before and after is allowed
// all the time, what is denied is denied all the time, and connections that stand go on. npm run campaign:policy for the whole.
import { deepEqual, equal, ok } from "node:assert/strict";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isLong, say, size } from "../kit/campaign.ts";
import { type ProbedFlow, readFlow } from "../kit/policy/flow.ts";
import { PolicyLab } from "../kit/policy/lab.ts";
import { noPolicyLab } from "../kit/policy/needs.ts";
import { Held } from "../kit/policy/standing-flows.ts";
import { PolicyWorld } from "../kit/policy-world.ts";
import { type Random, seededRandom, testSeed } from "../kit/random.ts";
import { PartProcess } from "./policy/part-process.ts";
import { watchFlow } from "./policy/watch-flow.ts";

const wantedProbes = Number(process.env.CATTAIL_PROBES ?? size({ short: 1_200, long: 20_000 }));
let lab: PolicyLab;
let agent: PartProcess;

before(async () => {
  if (noPolicyLab !== false) return;
  lab = new PolicyLab();
  const world = new PolicyWorld();
  for (const pod of world.pods) lab.addPod(pod.namespace, pod.name, pod.ips, pod.node === "node-a");
  agent = new PartProcess(lab.node.path);
});

after(async () => {
  await agent?.end("SIGTERM");
  lab?.[Symbol.dispose]();
});

/** Whatever changes, these stay as they are: the changes below never speak of them otherwise. */
const flows: readonly { readonly flow: ProbedFlow; readonly is: "allow" | "deny" }[] = [
  ...[
    "blue/client > red/web udp:53",
    "blue/client > red/web tcp:8080",
    "red/web > ext1 udp:53",
    "red/far > red/web udp:53",
    "blue/client > red/web udp6:53",
  ].map((text) => ({ flow: readFlow(text), is: "allow" as const })),
  ...[
    "green/tools > red/web udp:53",
    "green/tools > red/web tcp:8080",
    "ext1 > red/web udp:53",
    "ext1 > red/web tcp6:80",
    "green/tools > red/web icmp",
  ].map((text) => ({ flow: readFlow(text), is: "deny" as const })),
];

const client = ["10.65.0.5/32", "fd65::5/128"];
const tools = ["10.65.0.6/32", "fd65::6/128"];
/** Clients may, tools may not: in rules and elements of one set that only together mean that. Half of one and half of another means something else. */
const words: readonly { readonly rules: readonly object[]; readonly members: readonly string[] }[] = [
  { rules: [{ action: "allow", src_selector: "app == 'client'" }], members: [] },
  { rules: [{ action: "allow", src_selector: "app in {'client', 'nobody'}" }], members: [...tools, ...client] },
  { rules: [{ action: "allow", src_selector: "in == 'members'" }], members: client },
  {
    rules: [
      { action: "deny", src_selector: "app == 'tools'" },
      { action: "allow", src_selector: "in == 'members'" },
    ],
    members: [...client, ...tools],
  },
  {
    rules: [
      { action: "deny", src_selector: "in == 'members'" },
      { action: "allow", src_selector: "app in {'client', 'tools'}" },
    ],
    members: tools,
  },
];

/** The same meaning in ever other words: orders, tiers, sets and rules that do not matter to the flows above. */
function values(random: Random): ReadonlyMap<string, string> {
  const world = new PolicyWorld();
  const made = new Map(world.said);
  const put = (name: string, value: object) =>
    made.set(`/calico/v1/policy/GlobalNetworkPolicy//${name}`, JSON.stringify({ tier: "default", ...value }));
  const noise = Array.from({ length: random.below(4) }, () => ({
    action: random.pick(["allow", "deny", "log"]),
    protocol: "tcp",
    dst_ports: [random.pick([1000, 1001, "2000:2100"])],
    ...(random.isOneIn(2) ? { src_selector: random.pick(["app == 'db'", "has(role)", "env == 'x'"]) } : {}),
  }));
  const spoken = random.pick(words);
  made.set("/calico/v1/netset/members", JSON.stringify({ nets: spoken.members, labels: { in: "members" } }));
  const tier = random.pick(["default", "default", "first", "second"]);
  tiers(made, random, tier);
  bystanders(made, random);
  settings(made, random);
  put("guard", {
    tier,
    order: random.pick([1, 5, 10]),
    selector: random.pick(["app == 'web' && pcns.team == 'red'", "pcns.team == 'red' && app in {'web'}"]),
    types: ["ingress"],
    inbound_rules: [
      ...noise,
      // It is asked in whatever words, so that the set is always there.
      { action: "allow", protocol: "tcp", dst_ports: [1], src_selector: "in == 'members'" },
      ...spoken.rules,
      { action: "allow", src_selector: "role == 'far'" },
      ...(random.isOneIn(2) ? [{ action: "deny", src_selector: "app == 'tools'" }] : []),
    ],
  });
  for (let number = random.below(30); number > 0; number -= 1)
    put(`other-${random.below(40)}`, {
      order: 20 + random.below(5),
      selector: random.pick(["app == 'db'", "app == 'tools'", "app == 'nobody'"]),
      types: ["ingress"],
      inbound_rules: [...noise, { action: "allow" }],
    });
  if (random.isOneIn(3))
    made.set(
      "/calico/v1/netset/n",
      JSON.stringify({ nets: [`198.51.100.${random.below(200)}/32`], labels: { env: "x" } }),
    );
  return made;
}

/** The tier that guards, one that passes on before it, and one behind it that nobody comes to: in changing orders, made and gone again. */
function tiers(made: Map<string, string>, random: Random, guarding: string): void {
  const orders = random.pick([
    { before: 1, first: 5, second: 6 },
    { before: 3, first: 30, second: 20 },
  ]);
  for (const name of ["first", "second"] as const)
    if (name === guarding || random.isOneIn(2))
      made.set(`/calico/v1/policy/tier/${name}/metadata`, JSON.stringify({ order: orders[name] }));
  if (random.isOneIn(2)) return;
  made.set("/calico/v1/policy/tier/before/metadata", JSON.stringify({ order: orders.before }));
  const passing = {
    tier: "before",
    selector: "has(app)",
    types: ["ingress"],
    inbound_rules: [{ action: "next-tier" }],
  };
  made.set("/calico/v1/policy/GlobalNetworkPolicy//passing", JSON.stringify(passing));
}

/** Endpoints beside those that are probed come and go, are closed, and change labels and addresses. */
function bystanders(made: Map<string, string>, random: Random): void {
  for (const [path, text] of [...made])
    if (/node-a\/workload\/k8s\/(?:red%2fdb|blue%2fweb)\//.test(path)) {
      const what = random.below(5);
      if (what === 0) made.delete(path);
      else if (what === 1) made.set(path, JSON.stringify({ ...JSON.parse(text), state: "inactive" }));
      else if (what === 2) made.set(path, JSON.stringify({ ...JSON.parse(text), labels: { app: "other" } }));
      else if (what === 3) made.set(path, JSON.stringify({ ...JSON.parse(text), ipv4_nets: ["10.65.0.99/32"] }));
    }
}

/** Settings that change the text of nearly every chain, and what it means for none of the flows. */
function settings(made: Map<string, string>, random: Random): void {
  const values: { readonly [name: string]: readonly string[] } = {
    NftablesMarkMask: ["0xffff0000", "0x0000ff00"],
    LogPrefix: ["calico-packet", "other %k %n"],
    DisableConntrackInvalidCheck: ["true", "false"],
    InterfacePrefix: ["cali", "cali,other"],
    VXLANPort: ["4789", "4790"],
    DropSamplesPerSecond: ["0", "10"],
    NATOutgoingExclusions: ["IPPoolsOnly", "IPPoolsAndHostIPs"],
  };
  if (random.isOneIn(2)) return;
  for (const [name, known] of Object.entries(values))
    if (random.isOneIn(2)) made.set(`/calico/v1/config/${name}`, random.pick(known));
}

test("no probe has another verdict than before, whatever happens to policies and to the agent", {
  skip: noPolicyLab,
  timeout: 3_600_000,
}, async () => {
  const seed = testSeed();
  const random = seededRandom(seed);
  await agent.say(values(random));
  await agent.start();
  const held = await Held.open(readFlow("blue/client > red/web tcp:8080"), lab);
  let isOver = false;
  const counts = { probes: 0, changes: 0, kills: 0, stops: 0, late: 0, lost: 0, wrong: 0 };
  const notRight: string[] = [];
  const prober = async ({ flow, is }: (typeof flows)[number]) => {
    const open = new Set<Promise<void>>();
    while (!isOver) {
      const at = `between change ${counts.changes}, kill ${counts.kills}, stop ${counts.stops}`;
      const one = watchFlow(flow, is, lab)
        .then((watched) => {
          counts.probes += 1;
          if (watched.is === "right") return;
          counts[watched.is] += 1;
          notRight.push(
            `${watched.is}: ${flow.text}: ${watched.seen}, ${at} and ${counts.changes}, ${counts.kills}, ${counts.stops}`,
          );
        })
        .finally(() => open.delete(one));
      open.add(one);
      await sleep(isLong ? 60 : 30);
    }
    await Promise.all(open);
  };
  const probers = flows.map(prober);
  const stalls = monitorEventLoopDelay({ resolution: 20 });
  stalls.enable();
  const startedMs = performance.now();
  let standing = "alive";
  try {
    while (counts.probes < wantedProbes && standing === "alive") {
      await change(random, counts);
      standing = await held.check(10_000, "alive");
    }
  } finally {
    isOver = true;
    await Promise.all(probers);
    held.close();
    say(
      "probes during changes, kills and restarts",
      {
        ...counts,
        seconds: (performance.now() - startedMs) / 1_000,
        "longest stall of the prober, ms": stalls.max / 1e6,
      },
      seed,
    );
    for (const line of notRight) console.log(line);
  }
  equal(standing, "alive");
  // An answer that is late says something about this machine; a packet that is lost may have met half a change.
  deepEqual(
    notRight.filter((line) => !line.startsWith("late")),
    [],
  );
  ok(counts.probes >= wantedProbes && counts.changes > 0);
});

/** Other words for the same, and now and then the agent is killed in the midst of it, or stopped; then it starts again. */
async function change(random: Random, counts: { changes: number; kills: number; stops: number }): Promise<void> {
  const what = random.below(8);
  const said = agent.say(values(random));
  counts.changes += 1;
  if (what === 0) {
    await sleep(random.below(60));
    await agent.end("SIGKILL");
    counts.kills += 1;
    await said;
    await agent.start();
  } else if (what === 1) {
    await said;
    await agent.end("SIGTERM");
    counts.stops += 1;
    await agent.start();
  } else await said;
}
