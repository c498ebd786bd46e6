// The steps of a sitting about ctl and about what runs on a node. Most need root, and make network namespaces of their own; with the original's programs
// (npm run figures -- --original calico --original-plugins FOLDER --original-confd FOLDER --original-bird FOLDER) each is measured beside the original.
import type { FigureStep, Originals } from "./step.ts";

/** `calico WORDS`, as one word. */
const component =
  (words: string): NonNullable<FigureStep["against"]> =>
  ({ program }) =>
    program === undefined ? [] : ["--against", `${program} ${words}`];

/** Felix, confd and node-services of the original are one program here. */
function together({ program, confd }: Originals): readonly string[] {
  return program === undefined || confd === undefined ? [] : ["--against", program, "--confd", confd];
}

export const nodeSteps: readonly FigureStep[] = [
  {
    name: "ctl",
    kind: "bench",
    says: "commands of ctl on a real API server: time, CPU and memory",
    long: ["bench/ctl/main.ts --rounds 9"],
    short: ["bench/ctl/main.ts --rounds 1 --only get"],
    against: component("ctl"),
    aboutMinutes: 8,
    atMostMinutes: 30,
  },
  {
    name: "ipam",
    kind: "bench",
    says: "what an address costs, with and without an agent",
    long: ["bench/ipam/main.ts"],
    short: ["bench/ipam/main.ts --rounds 1 --many 4 --others 3"],
    against: ({ plugins }) => (plugins === undefined ? [] : ["--against", `${plugins}/calico-ipam`]),
    aboutMinutes: 4,
    atMostMinutes: 20,
  },
  {
    name: "cni",
    kind: "bench",
    says: "ADD and DEL as a runtime asks for them (needs root)",
    long: ["bench/cni/main.ts"],
    short: ["bench/cni/main.ts --rounds 2 --many 4"],
    against: ({ plugins }) => (plugins === undefined ? [] : ["--against", plugins]),
    aboutMinutes: 8,
    atMostMinutes: 30,
  },
  {
    name: "node",
    kind: "bench",
    says: "the routes of 500 nodes and 2,000 blocks, straight on etcd and behind a Typha, and the memory of a whole node (needs root)",
    long: ["", "--typha"]
      .map((behind) => `bench/node/routes/main.ts ${behind} --rounds 8 --idle-seconds 12 --turns 3`)
      .concat("bench/node/routes/main.ts --together"),
    short: ["", "--typha", "--together"].map(
      (how) => `bench/node/routes/main.ts ${how} --nodes 10 --blocks 20 --rounds 1 --idle-seconds 1 --sources`,
    ),
    against: (originals, command) =>
      command.includes("--together") ? together(originals) : component("component felix")(originals, command),
    aboutMinutes: 8,
    atMostMinutes: 30,
  },
  {
    name: "bird",
    kind: "bench",
    says: "from a BGPPeer to BIRD in a mesh of 300 nodes",
    long: ["bench/node/bird/main.ts"],
    short: ["bench/node/bird/main.ts --nodes 5 --rounds 1 --starts 1 --source"],
    against: ({ program, confd, bird }) =>
      program === undefined || confd === undefined || bird === undefined
        ? []
        : ["--against", program, "--confd", confd, "--bird16", bird],
    aboutMinutes: 6,
    atMostMinutes: 25,
  },
  {
    name: "startup",
    kind: "bench",
    says: "start-up of a node and probes on a cluster where everything exists (needs root)",
    long: ["bench/node/startup/main.ts"],
    short: ["bench/node/startup/main.ts --rounds 1 --sources"],
    against: component("component node"),
    aboutMinutes: 3,
    atMostMinutes: 15,
  },
  {
    name: "policy",
    kind: "bench",
    says: "policy on a node: start, writes, labels, sets, throughput (needs root, nft and iperf3)",
    long: ["start", "write,labels,set", "throughput"].map((scenes) => `bench/policy/main.ts --scenes ${scenes}`),
    short: ["bench/policy/main.ts --rounds 1 --scenes write --sources"],
    against: component("component felix"),
    aboutMinutes: 12,
    atMostMinutes: 45,
  },
  {
    name: "fuzz-node",
    kind: "campaign",
    says: "1,000,000 bent cases of each kind that a node reads or writes",
    long: ["test/fuzz/node/long.ts --cases 1000000", "test/fuzz/netlink-long.ts --cases 1000000"],
    short: ["test/fuzz/node/long.ts --cases 1000", "test/fuzz/netlink-long.ts --cases 1000"],
    aboutMinutes: 20,
    atMostMinutes: 90,
  },
  {
    name: "node-routes",
    kind: "campaign",
    says: "1,000 random changes to the routes of five nodes (needs root)",
    long: ["tools/run-tests.ts test/campaign/node-routes"],
    short: ["tools/run-tests.ts test/campaign/node-routes"],
    env: { CAMPAIGN: "long" },
    aboutMinutes: 20,
    atMostMinutes: 60,
  },
  {
    name: "node-bgp",
    kind: "campaign",
    says: "1,000 random changes to BGP, blocks and modes on five nodes, with whole agents and BIRD (needs root and bird)",
    long: ["tools/run-tests.ts test/campaign/node-bgp"],
    short: ["tools/run-tests.ts test/campaign/node-bgp"],
    env: { CAMPAIGN: "long", CATTAIL_CHANGES: "1000" },
    aboutMinutes: 45,
    atMostMinutes: 240,
  },
  {
    name: "policies",
    kind: "campaign",
    says: "random clusters, and probes while policies change (needs root and nft)",
    long: ["tools/run-tests.ts test/campaign/policy-"],
    short: ["tools/run-tests.ts test/campaign/policy-"],
    env: { CAMPAIGN: "long" },
    aboutMinutes: 40,
    atMostMinutes: 120,
  },
  {
    name: "pods",
    kind: "campaign",
    says: "2,000 sequences of pods that come and go, with everything that can happen in between (needs root)",
    long: ["test/campaign/cni/main.ts"],
    short: ["test/campaign/cni/main.ts --sequences 2 --minutes 2"],
    aboutMinutes: 90,
    atMostMinutes: 130,
  },
  {
    name: "addresses",
    kind: "campaign",
    says: "1,000,000 interleavings, and millions of addresses assigned and released on each datastore",
    long: ["test/campaign/ipam/main.ts"],
    short: ["test/campaign/ipam/interleavings.ts --schedules 500"],
    aboutMinutes: 150,
    atMostMinutes: 300,
  },
];
