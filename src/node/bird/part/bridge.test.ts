// Which sessions start anew when the objects change: those whose routes are kept meanwhile.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { computeBgp } from "../model/compute.ts";
import { BgpObjects } from "../model/objects.ts";
import { restarting } from "./bridge.ts";

type Changes = {
  readonly reflector?: string;
  readonly as?: number;
  readonly without?: string;
  readonly mesh?: boolean;
};

function intentWith({ reflector, as, without, mesh = true }: Changes) {
  const objects = new BgpObjects();
  const put = (kind: string, name: string, spec: object, labels = {}) =>
    objects.set(
      `/calico/resources/v3/projectcalico.org/${kind}/${name}`,
      JSON.stringify({ metadata: { name, labels }, spec }),
    );
  for (const [i, name] of ["n1", "n2", "n3"].entries()) {
    const bgp = { ipv4Address: `10.0.0.${i + 1}/24` };
    const isReflector = name === reflector;
    if (name !== without)
      put(
        "nodes",
        name,
        { bgp: isReflector ? { ...bgp, routeReflectorClusterID: "1.0.0.1" } : bgp },
        isReflector ? { rr: "" } : {},
      );
  }
  put("bgppeers", "reflectors", { nodeSelector: "!has(rr)", peerSelector: "has(rr)" });
  put("bgpconfigurations", "default", { nodeToNodeMeshEnabled: mesh, ...(as && { asNumber: as }) });
  const { intent } = computeBgp({
    ...{ node: "n1", objects, services: [], slices: [], workloads: [] },
    settings: {
      ...{ routerId: undefined, advertisedClusterIps: undefined, kubernetesNode: "n1" },
      ...{ usesPodCidr: false, agentProtocol: 80, canTunnel: false },
    },
    secret: () => ({ is: "missing", why: "" }),
  });
  if (intent === undefined) throw new Error("there is an intent");
  return intent;
}

const cases: { name: string; before: Changes; after: Changes; anew: string[] }[] = [
  { name: "nothing", before: {}, after: {}, anew: [] },
  { name: "a peer becomes a reflector", before: {}, after: { reflector: "n2" }, anew: ["Mesh_10_0_0_2"] },
  {
    name: "this node becomes one",
    before: {},
    after: { reflector: "n1" },
    anew: ["Mesh_10_0_0_2", "Mesh_10_0_0_3"],
  },
  {
    name: "and is one no longer",
    before: { reflector: "n1" },
    after: {},
    anew: ["Node_10_0_0_2", "Node_10_0_0_3"],
  },
  { name: "another AS number", before: {}, after: { as: 64_600 }, anew: ["Mesh_10_0_0_2", "Mesh_10_0_0_3"] },
  { name: "a node goes: its session, too, and for good", before: {}, after: { without: "n3" }, anew: [] },
  { name: "the mesh is switched off", before: { reflector: "n2" }, after: { reflector: "n2", mesh: false }, anew: [] },
];
for (const { name, before, after, anew } of cases) {
  test(`sessions that start anew: ${name}`, () => {
    deepEqual([...restarting(intentWith(before), intentWith(after))].sort(), anew);
  });
}
