// What holds for every Calico kind, whatever the object: no converter throws, nothing of one object shows in another's key,
// and what is left after any history is what a fresh list of the same objects would give.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { arbitraryResource, hostileResource } from "../../../test/kit/arbitrary-object.ts";
import { type CustomKind, kindInfo } from "../kinds/index.ts";
import { pathToKey } from "../model/index.ts";
import {
  createBgpConfigurationProcessor,
  createBgpFilterProcessor,
  createBgpPeerProcessor,
  createBlockAffinityProcessor,
  createCalicoNodeStatusProcessor,
  createClusterInformationProcessor,
  createFelixConfigurationProcessor,
  createGlobalNetworkPolicyProcessor,
  createGlobalNetworkSetProcessor,
  createHostEndpointProcessor,
  createIpamBlockProcessor,
  createIpPoolProcessor,
  createNetworkPolicyProcessor,
  createNetworkSetProcessor,
  createStagedGlobalNetworkPolicyProcessor,
  createStagedKubernetesNetworkPolicyProcessor,
  createStagedNetworkPolicyProcessor,
  createTierProcessor,
  type Processor,
  type ProcessorOutput,
} from "./index.ts";

const flavour = "kubernetes";
const kinds: [CustomKind, () => Processor][] = [
  ["GlobalNetworkPolicy", createGlobalNetworkPolicyProcessor],
  ["NetworkPolicy", createNetworkPolicyProcessor],
  ["StagedGlobalNetworkPolicy", createStagedGlobalNetworkPolicyProcessor],
  ["StagedNetworkPolicy", createStagedNetworkPolicyProcessor],
  ["StagedKubernetesNetworkPolicy", createStagedKubernetesNetworkPolicyProcessor],
  ["Tier", () => createTierProcessor({ flavour })],
  ["NetworkSet", createNetworkSetProcessor],
  ["GlobalNetworkSet", createGlobalNetworkSetProcessor],
  ["HostEndpoint", createHostEndpointProcessor],
  ["IPPool", createIpPoolProcessor],
  ["FelixConfiguration", createFelixConfigurationProcessor],
  ["ClusterInformation", createClusterInformationProcessor],
  ["BGPConfiguration", createBgpConfigurationProcessor],
  ["BGPPeer", createBgpPeerProcessor],
  ["BGPFilter", createBgpFilterProcessor],
  ["CalicoNodeStatus", createCalicoNodeStatusProcessor],
  ["IPAMBlock", () => createIpamBlockProcessor({ flavour })],
  ["BlockAffinity", () => createBlockAffinityProcessor({ flavour })],
];
// "default" and "node.x" are settings, the rest are not; dots and dashes matter to other kinds.
const names = ["default", "node.x", "a", "b.c", "d-e"];
const idOf = (kind: CustomKind, name: string) => {
  return { namespace: kindInfo(kind).namespaced ? "shop" : "", name };
};

function check({ kvs, problems }: ProcessorOutput): void {
  for (const { path, value } of kvs) {
    // Two kinds of keys hold a node's name as it is; with a slash in it, clients cannot read the original's either.
    if (!/^\/calico\/(ipam\/v2|v1\/host)\//.test(path)) equal(pathToKey(path) !== undefined, true, path);
    // Settings are raw text, which may look like anything.
    if (!/^\/calico\/v1\/(host\/.*\/)?config\//.test(path) && value?.startsWith("{")) JSON.parse(value);
  }
  for (const { object, rule } of problems) equal(object !== "" && rule !== "", true);
}

for (const [kind, create] of kinds) {
  const runs = { numRuns: 60 };
  // Made once: to make them from the schema takes longer than all that is done with what comes out of them.
  const fitting = fc.oneof(
    ...names.map((name) => arbitraryResource(kind, name).map((object): [string, unknown] => [name, object])),
  );

  test(`${kind}: every object that fits the schema converts`, () => {
    fc.assert(
      fc.property(fitting, ([name, object]) => check(create().set(idOf(kind, name), "1", object))),
      runs,
    );
  });

  test(`${kind}: a hostile object is a problem, not a crash`, () => {
    const hostile = fc.oneof(
      ...names.map((name) => hostileResource(kind, name).map((object): [string, unknown] => [name, object])),
    );
    fc.assert(
      fc.property(hostile, ([name, object]) => check(create().set(idOf(kind, name), "1", object))),
      runs,
    );
    equal(Object.hasOwn(Object.prototype, "polluted"), false);
  });

  test(`${kind}: every history ends as a fresh list would`, () => {
    const event = fc.oneof(
      { weight: 3, arbitrary: fitting },
      { weight: 1, arbitrary: fc.constantFrom(...names).map((name): [string, undefined] => [name, undefined]) },
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), (events) => {
        const objects = new Map<string, unknown>();
        const history = create();
        const state = new Map<string, string | undefined>();
        const apply = (to: Map<string, string | undefined>, { kvs }: ProcessorOutput) => {
          for (const { path, value, isInvalid } of kvs) {
            if (value === undefined && isInvalid !== true) to.delete(path);
            else to.set(path, value);
          }
        };
        for (const [name, object] of events) {
          objects.delete(name);
          if (object === undefined) apply(state, history.delete(idOf(kind, name)));
          else {
            objects.set(name, object);
            apply(state, history.set(idOf(kind, name), "1", object));
          }
        }
        const fresh = create();
        const listed = new Map<string, string | undefined>();
        for (const name of [...objects.keys()].sort()) {
          apply(listed, fresh.set(idOf(kind, name), "1", objects.get(name)));
        }
        deepEqual(new Map([...state].sort()), new Map([...listed].sort()));
      }),
      runs,
    );
  });
}
