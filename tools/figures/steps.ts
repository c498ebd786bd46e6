// What a sitting consists of: every campaign and every bench, in the order in which they run, with its long setting and
// its short one. The short ones only show that everything works; their figures say little.
import { nodeSteps } from "./node-steps.ts";
import type { FigureStep, Originals } from "./step.ts";

/** What `npm start` is: the demo of a checkout, which has not been built. */
const demos = "demo's first line,demo,first demo's first line,first demo";

function startedOriginals({ program, typha, release }: Originals, command: string): readonly string[] {
  const before = release === undefined ? [] : ["--before", release];
  if (command.includes("--sources")) return before;
  const calicoctl = program === undefined ? [] : ["--against-calicoctl", `${program} ctl`];
  return [...before, ...calicoctl, ...(typha === undefined ? [] : ["--against-typha", typha])];
}

/** The same program either way; how long it runs is for the sitting to say, by CAMPAIGN. */
function campaign(name: string, row: Pick<FigureStep, "says" | "aboutMinutes" | "atMostMinutes">): FigureStep {
  const program = [`tools/run-tests.ts test/campaign/${name}`];
  return { name, kind: "campaign", ...row, long: program, short: program, env: { CAMPAIGN: "long" } };
}

export const figureSteps: readonly FigureStep[] = [
  {
    name: "gob",
    kind: "bench",
    says: "encoding and decoding gob, next to Go",
    long: ["bench/gob/gob.ts"],
    short: ["bench/gob/gob.ts --rounds 1"],
    aboutMinutes: 0.4,
    atMostMinutes: 3,
  },
  {
    name: "start",
    kind: "bench",
    says: "what each command takes to start",
    long: ["bench/start/main.ts --rounds 9", `bench/start/main.ts --sources --rounds 7 --only "${demos}"`],
    short: ["bench/start/main.ts --rounds 1 --only version,help"],
    against: startedOriginals,
    aboutMinutes: 3,
    atMostMinutes: 15,
  },
  {
    name: "netlink",
    kind: "bench",
    says: "10,000 routes added, listed and deleted, next to ip (needs root)",
    long: ["bench/netlink/routes.ts --rounds 15"],
    short: ["bench/netlink/routes.ts --rounds 1 --routes 1000"],
    aboutMinutes: 0.2,
    atMostMinutes: 3,
  },
  {
    name: "convert",
    kind: "bench",
    says: "150,000 pods to endpoints",
    long: ["bench/convert/pods.ts"],
    short: ["bench/convert/pods.ts --pods 10000"],
    aboutMinutes: 0.3,
    atMostMinutes: 3,
  },
  {
    name: "wire",
    kind: "bench",
    says: "reading a snapshot of 100,000 keys, decoder against decoder",
    long: ["bench/wire/snapshot-client.ts"],
    short: ["bench/wire/snapshot-client.ts --keys 5000 --rounds 1"],
    aboutMinutes: 0.3,
    atMostMinutes: 4,
  },
  {
    name: "client",
    kind: "bench",
    says: "following a snapshot of 100,000 keys, next to Go's client",
    long: ["bench/client/snapshot.ts"],
    short: ["bench/client/snapshot.ts --keys 5000 --rounds 1"],
    aboutMinutes: 0.5,
    atMostMinutes: 4,
  },
  {
    name: "fanout",
    kind: "bench",
    says: "keeping up to 1,000 clients up to date, next to a Go server",
    long: ["bench/fanout/main.ts --json --rounds 3"],
    short: ["bench/fanout/main.ts --json --scenario batch-5"],
    against: ({ typha }) => (typha === undefined ? [] : ["--against", typha]),
    aboutMinutes: 24,
    atMostMinutes: 45,
  },
  {
    name: "flat",
    kind: "bench",
    says: "what one delivered update costs with 10, 100 and 1,000 clients",
    long: [10, 100, 1000].map((clients) => `bench/fanout/main.ts --json --scenario flat-${clients}`),
    short: [10, 50].map((clients) => `bench/fanout/main.ts --json --scenario flat-${clients}`),
    aboutMinutes: 1.5,
    atMostMinutes: 5,
  },
  {
    name: "datastore",
    kind: "bench",
    says: "listing and converting 150,000 pods of a real kube-apiserver",
    long: ["bench/datastore/list-pods.ts --pods 150000 --rounds 1"],
    short: ["bench/datastore/list-pods.ts --pods 2000 --rounds 1"],
    aboutMinutes: 2.5,
    atMostMinutes: 10,
  },
  {
    name: "dashboard",
    kind: "bench",
    says: "what it costs to be looked at, with 2,000 clients and 100,000 keys",
    long: ["bench/dashboard/main.ts --seconds 4"],
    short: ["bench/dashboard/main.ts --clients 50 --nodes 100 --pods 1000 --seconds 1"],
    aboutMinutes: 4,
    atMostMinutes: 8,
  },
  campaign("stalled", {
    says: "1,000 clients that stop reading in a 10 MB snapshot",
    aboutMinutes: 0.8,
    atMostMinutes: 5,
  }),
  campaign("half-open", { says: "20,000 silent and 5,000 dripping connections", aboutMinutes: 1, atMostMinutes: 5 }),
  campaign("malformed", {
    says: "100,000 malformed plain streams and 100,000 TLS ones",
    aboutMinutes: 1.5,
    atMostMinutes: 8,
  }),
  campaign("rotation", {
    says: "200 rotations of CA and certificate under 500 clients",
    aboutMinutes: 2,
    atMostMinutes: 8,
  }),
  campaign("soak", {
    says: "1,000,000 updates to 50 clients of five kinds, twice",
    aboutMinutes: 3.5,
    atMostMinutes: 12,
  }),
  {
    name: "fuzz",
    kind: "campaign",
    says: "bent and invented gob streams, judged by Go's decoder as well",
    long: ["test/fuzz/gob-long.ts --cases 1000000"],
    short: ["test/fuzz/gob-long.ts --cases 20000"],
    aboutMinutes: 1.2,
    atMostMinutes: 8,
  },
  {
    name: "faults",
    kind: "campaign",
    says: "1,000 random faults of datastores under random writes",
    long: ["tools/faults.ts --count 1000 --seed 1 --together"],
    short: ["tools/faults.ts --count 10 --seed 1 --together"],
    aboutMinutes: 6,
    atMostMinutes: 20,
  },
  {
    name: "folder",
    kind: "bench",
    says: "a folder as datastore: reading, writing and following 10,000 objects",
    long: ["bench/datastore/folder.ts"],
    short: ["bench/datastore/folder.ts --objects 200"],
    aboutMinutes: 2,
    atMostMinutes: 10,
  },
  campaign("edits", {
    says: "100,000 edits by several writers on each datastore",
    aboutMinutes: 16,
    atMostMinutes: 50,
  }),
  campaign("folder-kills", { says: "writers of a folder, killed at any moment", aboutMinutes: 5, atMostMinutes: 20 }),
  ...nodeSteps,
];
