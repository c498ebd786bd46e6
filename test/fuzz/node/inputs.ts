// What a node reads from others as text: what nft lists, what BIRD answers, what a runtime hands to the CNI plugins, stored IPAM objects, and what a
// Typha sends.
import { globSync, readFileSync } from "node:fs";
import { compileGoRegexp, isGoRegexp, messageOf } from "../../../src/base/lib/index.ts";
import { readBlock } from "../../../src/calico/ipam/block.ts";
import { readNodeReport, readPolicyHits, readRouteRows } from "../../../src/calico/node-report/index.ts";
import { NodePolicy } from "../../../src/calico/policy/index.ts";
import { fromCustomResource } from "../../../src/calico/resources/forms/custom-resource.ts";
import { fromIpamRecord } from "../../../src/calico/resources/forms/ipam.ts";
import { AnswerReader } from "../../../src/node/bird/control-socket.ts";
import { BgpObjects } from "../../../src/node/bird/model/objects.ts";
import { readProtocols } from "../../../src/node/bird/protocols.ts";
import { readRoutes, readSessions, readStatus } from "../../../src/node/bird/status/answers.ts";
import { readNetworkConfiguration } from "../../../src/node/cni/configuration.ts";
import { readArguments } from "../../../src/node/cni/protocol/arguments.ts";
import { validContainers } from "../../../src/node/cni/protocol/attachments.ts";
import { readCall } from "../../../src/node/cni/protocol/call.ts";
import { readTable } from "../../../src/node/dataplane/nft/kernel-table.ts";
import { readEndpointSettings } from "../../../src/node/endpoints/index.ts";
import { RouteCalculation } from "../../../src/node/routes/calculation/calculation.ts";
import { bent, bentText } from "./bend.ts";
import { BrokenOut, type Targets } from "./case.ts";

export const inputs = {
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
  report: () => (random) => {
    const { value, take } = random.pick(reports);
    const text = random.isOneIn(4) ? bentText(JSON.stringify(value), random) : JSON.stringify(bent(value, random));
    const read = () => {
      JSON.stringify(take(text), (_, taken: unknown) => {
        // A person's terminal and the log are shown it; one character of it may be spelled with six.
        if (typeof taken === "string" && (/\p{Cc}/u.test(taken) || taken.length > 6 * 500)) throw new BrokenOut(taken);
        return taken;
      });
    };
    return { input: text, read };
  },
  regexp: () => (random) => {
    const pieces = Array.from({ length: 1 + random.below(6) }, () => random.pick(regexpPieces));
    const text = random.isOneIn(2) ? pieces.join("") : bentText(pieces.join(""), random);
    const read = () => {
      if (!isGoRegexp(text)) throw new Error("no regular expression of Go's");
      try {
        compileGoRegexp(text);
      } catch (error) {
        throw new BrokenOut(messageOf(error)); // what is one of Go's has to be one of JavaScript's, too
      }
    };
    return { input: text, read };
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
} satisfies Targets;

const regexpPieces =
  "a é . ^ $ | ( ) (?: (?i) (?s-m: (?P<x> (?U) * + ? *? {2} {1,3} {,4} [ ] [a-z] [^]] [[:alpha:]] [[:^digit:]_] [\\d-] \\A \\z \\b \\Q*\\E \\pL \\P{Greek} \\x41 \\x{10FFFF} \\101 \\. \\n && -- ~".split(
    " ",
  );

const reports: readonly { value: unknown; take: (body: string) => unknown }[] = [
  {
    take: readNodeReport,
    value: {
      node: "a",
      version: "cattail v1",
      startedAtMs: 1_794_804_008_712,
      live: true,
      ready: false,
      components: [{ name: "bird", isLive: true, isReady: false, detail: "no session" }],
      bgp: [
        {
          ...{ family: 6, silent: "", version: "2.0.12", routerId: "192.0.2.1", bootTime: "t", reconfiguredTime: "u" },
          sessions: [{ address: "fd00::1", kind: "Mesh", state: "Active", since: "09:00:00" }],
        },
      ],
      routes: { right: 3, wrong: 1, first: "10.0.0.0/26 of b: missing" },
      audit: { atMs: 5, findings: 1, says: ["LEAK: one"] },
    },
  },
  {
    take: readRouteRows,
    value: [{ destination: "10.0.0.0/26", node: "b", expected: "vxlan", actual: "", state: "missing", why: "gone" }],
  },
  {
    take: readPolicyHits,
    value: [{ policy: "p", rule: 0, direction: "ingress", action: "Deny", packets: 3, bytes: 180, reason: "x" }],
  },
];

/** The node on which most pods of the recorded cases are: of others a node keeps little. */
export const recordedNode = "node-1";

function freshNode(): (path: string, value: string) => void {
  const policy = new NodePolicy(recordedNode);
  const routes = new RouteCalculation(recordedNode, {
    plain: "us",
    vxlan: undefined,
    ipip: undefined,
    ipipBy: "us",
    families: [4, 6],
  });
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

export function recordedUpdates(): readonly { readonly path: string; readonly value: string }[] {
  const files = globSync("test/vectors/golden/cases/*/expect-{felix,bgp}.json");
  return files.flatMap((file) => {
    const { kvs } = JSON.parse(readFileSync(file, "utf8")) as { kvs: { key: string; value: string | null }[] };
    return kvs.flatMap(({ key: path, value }) => (value === null ? [] : [{ path, value }]));
  });
}
