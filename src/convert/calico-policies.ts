// Calico's own policies, enforced and staged. The key's name is the one under which the policy is stored, whatever name its
// metadata annotation gives it.
import {
  globalNetworkPolicySpec,
  type Key,
  networkPolicySpec,
  type PolicyKind,
  stagedGlobalNetworkPolicySpec,
  stagedNetworkPolicySpec,
} from "../model/index.ts";
import { convertPolicy } from "./policy.ts";
import type { Processor, ProcessorId } from "./processor.ts";
import { createSimpleProcessor } from "./simple-processor.ts";

const namespaced =
  (kind: PolicyKind) =>
  ({ namespace, name }: ProcessorId): Key => ({ is: "Policy", kind, namespace, name });

const global =
  (kind: PolicyKind) =>
  ({ name }: ProcessorId): Key => ({ is: "Policy", kind, namespace: "", name });

export function createGlobalNetworkPolicyProcessor(): Processor {
  return createSimpleProcessor({
    kind: "GlobalNetworkPolicy",
    schema: globalNetworkPolicySpec,
    key: global("GlobalNetworkPolicy"),
    convert: ({ spec }) => convertPolicy({ spec, namespace: "" }),
  });
}

export function createNetworkPolicyProcessor(): Processor {
  return createSimpleProcessor({
    kind: "NetworkPolicy",
    schema: networkPolicySpec,
    key: namespaced("NetworkPolicy"),
    convert: ({ spec }, { namespace }) => convertPolicy({ spec, namespace }),
  });
}

export function createStagedGlobalNetworkPolicyProcessor(): Processor {
  return createSimpleProcessor({
    kind: "StagedGlobalNetworkPolicy",
    schema: stagedGlobalNetworkPolicySpec,
    key: global("StagedGlobalNetworkPolicy"),
    convert: ({ spec }) => convertPolicy({ spec, namespace: "", stagedAction: spec.stagedAction }),
  });
}

export function createStagedNetworkPolicyProcessor(): Processor {
  return createSimpleProcessor({
    kind: "StagedNetworkPolicy",
    schema: stagedNetworkPolicySpec,
    key: namespaced("StagedNetworkPolicy"),
    convert: ({ spec }, { namespace }) => convertPolicy({ spec, namespace, stagedAction: spec.stagedAction }),
  });
}
