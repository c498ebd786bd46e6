// Bends what a node reads from others and gives it to the readers: what nft lists, what BIRD answers, what a runtime hands to the CNI plugins, stored
// IPAM objects, and what a Typha sends. Each is read, or refused with an error that says so; a TypeError is a reader that took something for granted.
import { globSync, readFileSync } from "node:fs";
import { readBlock } from "../../src/calico/ipam/block.ts";
import { NodePolicy } from "../../src/calico/policy/index.ts";
import { fromCustomResource } from "../../src/calico/resources/forms/custom-resource.ts";
import { fromIpamRecord } from "../../src/calico/resources/forms/ipam.ts";
import { AnswerReader } from "../../src/node/bird/control-socket.ts";
import { BgpObjects } from "../../src/node/bird/model/objects.ts";
import { readProtocols } from "../../src/node/bird/protocols.ts";
import { readRoutes, readSessions, readStatus } from "../../src/node/bird/status/answers.ts";
import { readNetworkConfiguration } from "../../src/node/cni/configuration.ts";
import { readArguments } from "../../src/node/cni/protocol/arguments.ts";
import { validContainers } from "../../src/node/cni/protocol/attachments.ts";
import { readCall } from "../../src/node/cni/protocol/call.ts";
import { readTable } from "../../src/node/dataplane/nft/kernel-table.ts";
import { readEndpointSettings } from "../../src/node/endpoints/index.ts";
import { RouteCalculation } from "../../src/node/routes/calculation/calculation.ts";
import { type Random, seededRandom } from "../kit/random.ts";

export const fuzzTargets = ["nft", "bird", "cni", "ipam", "typha"] as const;
export type FuzzTarget = (typeof fuzzTargets)[number];
export type Tally = { cases: number; read: number; refused: number };

/** Throws at the first case that breaks the rule, with the input. */
export function fuzzNodeInput(target: FuzzTarget, options: { seed: number; cases: number }): Tally {
  const random = seededRandom(options.seed);
  const make = makers[target]();
  const tally: Tally = { cases: 0, read: 0, refused: 0 };
  for (; tally.cases < options.cases; tally.cases++) {
    const { input, read } = make(random);
    const startedMs = performance.now();
    try {
      read();
      tally.read += 1;
    } catch (error) {
      if (!(error instanceof Error) || isMishap(error))
        throw new Error(`${String(error)} for ${input.slice(0, 4000)}`, { cause: error });
      tally.refused += 1;
    }
    const tookMs = performance.now() - startedMs;
    if (tookMs > 5_000) throw new Error(`${tookMs.toFixed(0)} ms for ${input.slice(0, 4000)}`);
  }
  return tally;
}

function isMishap(error: Error): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}

type Case = { readonly input: string; readonly read: () => void };

const makers: { readonly [target in FuzzTarget]: () => (random: Random) => Case } = {
  nft: () => (random) => {
    const listing = bent(nftListing, random);
    return { input: JSON.stringify(listing), read: () => void readTable(listing) };
  },
  bird: () => {
    const answers = birdAnswers();
    return (random) => {
      const text = bentText(random.pick(answers), random);
      return { input: text, read: () => readBird(text) };
    };
  },
  cni: () => (random) => {
    const isJson = !random.isOneIn(4);
    const stdin = isJson
      ? JSON.stringify(bent(random.pick(cniConfigurations), random))
      : bentText(JSON.stringify(cniConfigurations[0]), random);
    const variables = {
      CNI_COMMAND: random.pick(["ADD", "DEL", "CHECK", "GC", "STATUS", "VERSION", "FROB"]),
      CNI_CONTAINERID: random.isOneIn(3) ? bentText("abc-1", random) : "abc-1",
      CNI_NETNS: "/var/run/netns/x",
      CNI_IFNAME: random.isOneIn(3) ? bentText("eth0", random) : "eth0",
      CNI_PATH: "/opt/cni/bin",
      CNI_ARGS: random.isOneIn(2) ? bentText(cniArguments, random) : cniArguments,
    };
    return { input: `${JSON.stringify(variables)} ${stdin}`, read: () => readCni(variables, stdin) };
  },
  ipam: () => (random) => {
    const { kind, name, value } = random.pick(ipamRecords);
    const changed = bent(value, random);
    const read = () => {
      const id = { namespace: "", name };
      if (random.isOneIn(2)) {
        const { spec } = fromIpamRecord(kind, { id, value: changed, revision: "1" });
        if (kind === "IPAMBlock") readBlock(spec as Parameters<typeof readBlock>[0]); // what a block's schema lets through
      } else {
        fromCustomResource(kind, { metadata: { name }, spec: changed }, "1");
      }
    };
    return { input: `${kind} ${JSON.stringify(changed)}`, read };
  },
  typha: () => {
    const updates = recordedUpdates();
    let state = freshNode();
    return (random) => {
      if (random.isOneIn(500)) state = freshNode();
      const { path, value } = random.pick(updates);
      const isJson = /^[{[]/.test(value);
      const text = isJson ? JSON.stringify(bent(JSON.parse(value), random)) : bentText(value, random);
      return { input: `${path} ${text}`, read: () => state(path, text) };
    };
  },
};

function freshNode(): (path: string, value: string) => void {
  const policy = new NodePolicy("node-a");
  const routes = new RouteCalculation("node-a", { plain: "us", vxlan: undefined, families: [4, 6] });
  const bgp = new BgpObjects();
  return (path, value) => {
    policy.update(path, value);
    policy.takeChanges();
    routes.set(path, value);
    routes.take();
    bgp.set(path, value);
  };
}

function readBird(text: string): void {
  const answer = new AnswerReader().feed(text);
  if (answer.is !== "answer") return;
  readStatus(answer.lines);
  readSessions(answer.lines);
  readRoutes(answer.lines);
  readProtocols(answer.lines);
}

function readCni(variables: { readonly [name: string]: string }, stdin: string): void {
  const { configuration, args } = readCall(variables, stdin);
  readNetworkConfiguration(configuration, variables);
  readEndpointSettings(configuration);
  validContainers(configuration);
  readArguments(args);
}

const odd: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e300,
  "",
  "x".repeat(300),
  "10.0.0.0/99",
  "::/0",
  [],
  {},
  [null],
  "__proto__",
];

/** The same value with some of it removed, replaced, repeated or moved. */
function bent(value: unknown, random: Random): unknown {
  let changed = structuredClone(value);
  for (let i = 1 + random.below(4); i > 0; i--) changed = bendOnce(changed, random);
  return changed;
}

function bendOnce(value: unknown, random: Random): unknown {
  const isLeaf = typeof value !== "object" || value === null;
  if (isLeaf || random.isOneIn(12))
    return typeof value === "string" && !random.isOneIn(3) ? bentText(value, random) : random.pick(odd);
  if (Array.isArray(value)) {
    const at = random.below(Math.max(1, value.length));
    if (random.isOneIn(5)) return value.toSpliced(at, 1);
    if (random.isOneIn(5)) return value.toSpliced(at, 0, value[random.below(Math.max(1, value.length))]);
    return value.length === 0 ? [random.pick(odd)] : value.with(at, bendOnce(value[at], random));
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return { x: random.pick(odd) };
  const [name, inner] = random.pick(entries);
  if (random.isOneIn(6)) return Object.fromEntries(entries.filter(([each]) => each !== name));
  return Object.fromEntries(entries.map(([each, held]) => [each, each === name ? bendOnce(inner, random) : held]));
}

function bentText(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  switch (random.below(6)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(at);
    case 2:
      return `${text.slice(0, at)}${random.pick(["\n", "\0", '"', "'", ";", "}", "/", ":", "-", " ", "é", "9999999999"])}${text.slice(at)}`;
    case 3:
      return text.slice(0, at) + text.slice(at + 1 + random.below(4));
    case 4:
      return `${text.slice(0, at)}${String.fromCharCode(random.below(0x250))}${text.slice(at + 1)}`;
    default:
      return `${text}${text.slice(at)}`;
  }
}

const nftListing = {
  nftables: [
    { metainfo: { version: "1.0.6", json_schema_version: 1 } },
    { table: { family: "inet", name: "cattail", handle: 7 } },
    {
      set: {
        family: "inet",
        name: "s-1",
        table: "cattail",
        type: "ipv4_addr",
        flags: ["interval"],
        elem: ["10.0.0.1", { prefix: { addr: "10.1.0.0", len: 16 } }, { range: ["10.2.0.1", "10.2.0.9"] }],
      },
    },
    {
      set: {
        family: "inet",
        name: "p-1",
        table: "cattail",
        type: ["ipv4_addr", "inet_proto", "inet_service"],
        elem: [{ concat: ["10.0.0.1", 6, 80] }],
      },
    },
    {
      map: {
        family: "inet",
        name: "to",
        table: "cattail",
        type: "ifname",
        map: "verdict",
        elem: [
          ["cali1", { goto: { target: "e-1" } }],
          [{ elem: { val: "cali2", comment: "x" } }, { drop: null }],
        ],
      },
    },
    {
      chain: {
        family: "inet",
        table: "cattail",
        name: "forward",
        handle: 1,
        type: "filter",
        hook: "forward",
        prio: 0,
        policy: "accept",
      },
    },
    {
      rule: {
        family: "inet",
        table: "cattail",
        chain: "forward",
        handle: 9,
        comment: "policy a #0123456789",
        expr: [
          { match: { op: "==", left: { meta: { key: "iifname" } }, right: "cali1" } },
          { counter: { packets: 1, bytes: 2 } },
          { accept: null },
        ],
      },
    },
  ],
};

const cniArguments = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_INFRA_CONTAINER_ID=abc";
const cniConfigurations: readonly unknown[] = [
  {
    cniVersion: "1.0.0",
    name: "k8s-pod-network",
    type: "calico",
    datastore_type: "kubernetes",
    mtu: 1500,
    nodename: "n1",
    ipam: { type: "calico-ipam", assign_ipv4: "true", ipv4_pools: ["10.0.0.0/8", "pool"] },
    policy: { type: "k8s" },
    kubernetes: { kubeconfig: "/etc/cni/net.d/calico-kubeconfig" },
    container_settings: { allow_ip_forwarding: true },
    feature_control: { ip_addrs_no_ipam: false, floating_ips: true },
    readiness_gates: ["http://localhost:9099/readiness"],
    policy_setup_timeout_seconds: 3,
    prevResult: { cniVersion: "1.0.0", ips: [{ address: "10.0.0.1/32", interface: 1 }] },
  },
  {
    cniVersion: "1.1.0",
    name: "net",
    type: "calico",
    "cni.dev/valid-attachments": [{ containerID: "a", ifname: "eth0" }],
    etcd_endpoints: "http://127.0.0.1:2379",
    datastore_type: "etcdv3",
    ipam: { type: "host-local", subnet: "usePodCidr" },
  },
];

const ipamRecords = [
  {
    kind: "IPAMBlock",
    name: "10-0-0-0-30",
    value: {
      cidr: "10.0.0.0/30",
      affinity: "host:n1",
      strictAffinity: false,
      allocations: [0, null, 1, null],
      unallocated: [1, 3],
      attributes: [
        { handle_id: "h", secondary: { node: "n1", pod: "p", namespace: "d" } },
        { handle_id: "g", secondary: {} },
      ],
      sequenceNumber: 12,
      sequenceNumberForAllocation: { "0": 3 },
      deleted: false,
    },
  },
  {
    kind: "BlockAffinity",
    name: "n1/ipv4/block/10.0.0.0-30",
    value: { state: "confirmed", node: "n1", cidr: "10.0.0.0/30", deleted: "false" },
  },
  { kind: "IPAMHandle", name: "net.abc", value: { handleID: "net.abc", block: { "10.0.0.0/30": 2 }, deleted: false } },
  {
    kind: "IPAMConfig",
    name: "default",
    value: { strictAffinity: false, strict_affinity: true, autoAllocateBlocks: true, maxBlocksPerHost: 20 },
  },
] as const;

function birdAnswers(): readonly string[] {
  const recorded = JSON.parse(readFileSync("test/vectors/bgp/answers.json", "utf8")) as {
    readonly [name: string]: { readonly [daemon: string]: { readonly [command: string]: string } };
  };
  return Object.values(recorded).flatMap((daemons) =>
    Object.values(daemons).flatMap((commands) => Object.values(commands)),
  );
}

function recordedUpdates(): readonly { readonly path: string; readonly value: string }[] {
  const files = globSync("test/vectors/golden/cases/*/expect-{felix,bgp}.json");
  return files.flatMap((file) => {
    const { kvs } = JSON.parse(readFileSync(file, "utf8")) as { kvs: { key: string; value: string | null }[] };
    return kvs.flatMap(({ key: path, value }) => (value === null ? [] : [{ path, value }]));
  });
}
