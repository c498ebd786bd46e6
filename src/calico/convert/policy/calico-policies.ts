// Calico's own policies, enforced and staged. The key's name is the one under which the policy is stored, whatever name its
// metadata annotation gives it.
import {
  type Flavour,
  globalNetworkPolicySpec,
  type Kind,
  kindInfo,
  networkPolicySpec,
  stagedGlobalNetworkPolicySpec,
  stagedNetworkPolicySpec,
} from "../../kinds/index.ts";
import type { PolicyKind, Schema } from "../../model/index.ts";
import { checkKeptMetadata } from "../object/resource.ts";
import { createResourceProcessor } from "../processor/keyed-processor.ts";
import type { Processor, ProcessorId } from "../processor/processor.ts";
import { convertPolicy, type PolicySpec } from "./policy.ts";

type Options = { readonly flavour: Flavour };
const inKubernetes: Options = { flavour: "kubernetes" };

type CalicoPolicy<S> = { readonly kind: Kind & PolicyKind; readonly schema: Schema<S> };

function createPolicyProcessor<S extends PolicySpec & { readonly stagedAction?: string | undefined }>(
  { kind, schema }: CalicoPolicy<S>,
  { flavour }: Options,
): Processor {
  const namespaceOf = ({ namespace }: ProcessorId) => (kindInfo(kind).namespaced ? namespace : "");
  return createResourceProcessor({
    kind,
    schema,
    key: (id) => ({ is: "Policy", kind, namespace: namespaceOf(id), name: id.name }),
    convert: ({ metadata, spec }, id) => {
      // Of a policy in etcd the original reads the kept name, though nothing is sent of it.
      if (flavour === "etcdv3") checkKeptMetadata(metadata);
      return convertPolicy({ spec, namespace: namespaceOf(id), stagedAction: spec.stagedAction });
    },
  });
}

export function createGlobalNetworkPolicyProcessor(options = inKubernetes): Processor {
  return createPolicyProcessor({ kind: "GlobalNetworkPolicy", schema: globalNetworkPolicySpec }, options);
}

export function createNetworkPolicyProcessor(options = inKubernetes): Processor {
  return createPolicyProcessor({ kind: "NetworkPolicy", schema: networkPolicySpec }, options);
}

export function createStagedGlobalNetworkPolicyProcessor(options = inKubernetes): Processor {
  return createPolicyProcessor({ kind: "StagedGlobalNetworkPolicy", schema: stagedGlobalNetworkPolicySpec }, options);
}

export function createStagedNetworkPolicyProcessor(options = inKubernetes): Processor {
  return createPolicyProcessor({ kind: "StagedNetworkPolicy", schema: stagedNetworkPolicySpec }, options);
}
