// Health: what is ready, and who is named.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Look } from "../daemon/look.ts";
import { computeBgp } from "../model/compute.ts";
import { BgpObjects } from "../model/objects.ts";
import { bgpHealth, type ReadinessRule } from "./health.ts";

const objects = new BgpObjects();
for (const [name, address] of Object.entries({ n1: "10.0.0.1/24", n2: "10.0.0.2/24", n3: "10.0.0.3/24" })) {
  objects.set(
    `/calico/resources/v3/projectcalico.org/nodes/${name}`,
    JSON.stringify({ metadata: { name }, spec: { bgp: { ipv4Address: address } } }),
  );
}
const { intent } = computeBgp({
  node: "n1",
  objects,
  services: [],
  slices: [],
  workloads: [],
  settings: {
    routerId: undefined,
    advertisedClusterIps: undefined,
    kubernetesNode: "n1",
    usesPodCidr: false,
    agentProtocol: 80,
    canTunnel: false,
  },
  secret: () => ({ is: "missing", why: "" }),
});

const row = (name: string, info: string) => ({ name, kind: "BGP", state: "up", since: "", info });
const look = (infos: readonly string[], isWaiting = false): Look => ({
  is: "running",
  version: { text: "2.0.12", generation: 2, isFork: false },
  isWaiting,
  protocols: infos.map((info, at) => row(`Mesh_10_0_0_${at + 2}`, info)),
});
const up = "Established";

const cases: {
  name: string;
  looks: readonly Look[];
  behind?: string;
  rule?: ReadinessRule;
  ready: boolean;
  detail: string;
}[] = [
  { name: "all up", looks: [look([up, up])], ready: true, detail: "" },
  {
    name: "one down is named",
    looks: [look([up, "Connect"])],
    ready: false,
    detail: "BGP not established with 10.0.0.3",
  },
  {
    name: "one that BIRD does not have is down",
    looks: [look([up])],
    ready: false,
    detail: "BGP not established with 10.0.0.3",
  },
  {
    name: "BIRD still waits for its peers",
    looks: [look([up, up], true)],
    ready: false,
    detail: "graceful restart in progress",
  },
  {
    name: "no BIRD",
    looks: [{ is: "absent", why: "BIRD cannot be reached at /x (ENOENT)" }],
    ready: false,
    detail: "BIRD cannot be reached at /x (ENOENT)",
  },
  {
    name: "a configuration that BIRD refused",
    looks: [look([up, up])],
    behind: "BIRD refuses it",
    ready: false,
    detail: "BIRD refuses it",
  },
  {
    name: "weak: one is enough",
    looks: [look([up, "Active"], true)],
    rule: "weak",
    ready: true,
    detail: "BGP not established with 10.0.0.3; graceful restart in progress",
  },
  {
    name: "weak: none is not",
    looks: [look(["Active", "Active"])],
    rule: "weak",
    ready: false,
    detail: "BGP not established with 10.0.0.2,10.0.0.3",
  },
];
for (const { name, looks, behind, rule = "strict", ready, detail } of cases) {
  test(`BGP health: ${name}`, () => {
    if (intent === undefined) throw new Error("there is an intent");
    deepEqual(bgpHealth({ intent, looks, behind, rule }), { ready, detail });
  });
}
