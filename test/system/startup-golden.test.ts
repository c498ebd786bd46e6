// Every recorded case of calico-node's start-up, shutdown, tunnel addresses and health, with the program, on network namespaces and a real API server: the
// same exit codes, objects, annotations, files and lines of the log. npm test plays a share, npm run test:all the rest. Where Cattail does better on
// purpose, `better` says how; test/conformance/known-differences.md says why.
import { deepEqual, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { crdManifest, customKinds } from "../../src/calico/kinds/index.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { shareOf } from "../kit/share.ts";
import { type Facts, startupCases } from "../kit/startup/case.ts";
import { playStartup } from "../kit/startup/play.ts";
import { StartupStore } from "../kit/startup/store.ts";

const peer = await clusterPeer();
const skip = noNamespaces || (peer.missing ?? false);

/** What is expected instead of what was recorded. */
const better: { readonly [name: string]: (recorded: Facts) => Facts } = {
  // Without the right to create BGPConfigurations start-up goes on: what would be written is what holds without it.
  "rights-of-the-seed": (recorded) => ({ ...recorded, rc: 0, files: { "lib/nodename": "n1" } }),
};

/** Lines that must be there beside the recorded ones. */
const moreLog: { readonly [name: string]: readonly string[] } = {
  "rights-of-the-seed": ['resources: ["bgpconfigurations", "ipamconfigs", "tiers"]', 'verbs: ["create"]'],
  "address-conflict": ["Calico node 'n2' is already using the IPv4 address 172.30.0.11. Node 'n1' has it, too"],
  "address-conflict-unchanged": [
    "Calico node 'n2' is already using the IPv4 address 172.30.0.11. Node 'n1' has it, too",
  ],
};

describe("recorded cases of a node's start-up", { skip }, () => {
  let cluster: Cluster;
  let store: StartupStore;
  before(async () => {
    cluster = await startCluster();
    await installCrds(
      cluster,
      customKinds.map((kind) => crdManifest(kind)),
    );
    store = new StartupStore(cluster);
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });
  for (const given of shareOf(startupCases())) {
    test(`${given.name}: ${given.about}`, async () => {
      const { log, ...recorded } = given.expect;
      const { facts, output } = await playStartup(given, { cluster, store });
      const expected = better[given.name]?.(recorded) ?? recorded;
      deepEqual(facts, expected, output);
      for (const line of [...log, ...(moreLog[given.name] ?? [])])
        ok(output.includes(line), `${line} is not in ${output}`);
    });
  }
});
