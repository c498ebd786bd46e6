// Where the converted rules of Kubernetes' policies come from: the object is converted once more, rule by rule, and what comes out is counted.
// So what is sent to clients needs no numbers of the manifest.
import { clusterNetworkPolicySpec, kubernetesNetworkPolicySpec } from "../../kinds/index.ts";
import {
  cleanJson,
  FieldError,
  member,
  type PolicyKind,
  type RuleOrigins,
  readSchema,
  recordOf,
} from "../../model/index.ts";
import { attempt, type Processor, type ProcessorId } from "../processor/processor.ts";
import { createClusterNetworkPolicyProcessor } from "./cluster-network-policy.ts";
import { convertClusterRules } from "./cluster-network-policy-rule.ts";
import {
  createKubernetesNetworkPolicyProcessor,
  createStagedKubernetesNetworkPolicyProcessor,
} from "./kubernetes-policies.ts";
import { kubernetesPolicySpec } from "./kubernetes-policy-spec.ts";

type Direction = "ingress" | "egress";
type Multiplied = { readonly processor: () => Processor; readonly origins: (spec: unknown) => RuleOrigins };

const ofKubernetes: Multiplied["origins"] = (given) => {
  const { ingress = [], egress = [] } = readSchema(kubernetesNetworkPolicySpec, given, "spec");
  return {
    ingress: ingress.flatMap((rule, at) =>
      originsOf("ingress", at, { peers: rule.from, made: kubernetesPolicySpec({ ingress: [rule] }).spec.ingress }),
    ),
    egress: egress.flatMap((rule, at) =>
      originsOf("egress", at, { peers: rule.to, made: kubernetesPolicySpec({ egress: [rule] }).spec.egress }),
    ),
  };
};

const ofCluster: Multiplied["origins"] = (given) => {
  const { ingress = [], egress = [] } = readSchema(clusterNetworkPolicySpec, given, "spec");
  const made = (direction: Direction, rule: (typeof ingress)[number] | (typeof egress)[number]) =>
    convertClusterRules({ rules: [rule], direction, warnings: [] });
  return {
    ingress: ingress.flatMap((rule, at) => originsOf("ingress", at, { peers: rule.from, made: made("ingress", rule) })),
    egress: egress.flatMap((rule, at) => originsOf("egress", at, { peers: rule.to, made: made("egress", rule) })),
  };
};

const multiplied: { readonly [K in PolicyKind]?: Multiplied } = {
  KubernetesNetworkPolicy: { processor: createKubernetesNetworkPolicyProcessor, origins: ofKubernetes },
  StagedKubernetesNetworkPolicy: { processor: createStagedKubernetesNetworkPolicyProcessor, origins: ofKubernetes },
  KubernetesClusterNetworkPolicy: { processor: createClusterNetworkPolicyProcessor, origins: ofCluster },
};

/**
 * Undefined: the object is not the one that `sent` was made of (it has changed since), or of a kind whose rules are counted as they were
 * written.
 */
export function ruleOrigins(
  kind: PolicyKind,
  { id, value, sent }: { readonly id: ProcessorId; readonly value: unknown; readonly sent: string },
): RuleOrigins | undefined {
  const how = multiplied[kind];
  if (how === undefined || how.processor().set(id, "", value).kvs[0]?.value !== sent) return undefined;
  const origins = attempt(() => how.origins(cleanJson(member(recordOf(value, ""), "spec") ?? {}, "spec")));
  return origins instanceof FieldError ? undefined : origins;
}

/** Protocol by protocol, and for each protocol peer by peer. A rule that denies all because it cannot be read is no peer's. */
function originsOf(
  direction: Direction,
  at: number,
  {
    peers = [],
    made = [],
  }: { readonly peers: readonly unknown[] | undefined; readonly made: readonly unknown[] | undefined },
): RuleOrigins[Direction] {
  const field = `spec.${direction}[${at}]`;
  const isByPeer = peers.length > 1 && made.length % peers.length === 0;
  const peer = (index: number) => `${field}.${direction === "ingress" ? "from" : "to"}[${index % peers.length}]`;
  return made.map((_, index) => ({ rule: at + 1, field: isByPeer ? peer(index) : field }));
}
