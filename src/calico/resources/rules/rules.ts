// Which rules hold for which kind.

import { isRecord } from "../../../base/lib/index.ts";
import type { Reader } from "../../datastore/index.ts";
import { workloadEndpointName } from "../../kinds/index.ts";
import type { ApiKind } from "../api-kinds.ts";
import { defaultAllowProfile } from "../forms/profile-view.ts";
import { alreadyExists, ResourceError, unsupported } from "../resource-error.ts";
import type { V3Object } from "../v3-object.ts";
import { ipPoolRules } from "./ip-pool.ts";
import { storedNodeRules } from "./nodes.ts";
import { policyRules, tierRules } from "./policies.ts";
import type { Rules } from "./rule.ts";

export function rulesOf(kind: ApiKind, { flavour, holdsEveryKind }: Pick<Reader, "flavour" | "holdsEveryKind">): Rules {
  if (kind === "Node") return flavour === "etcdv3" || holdsEveryKind === true ? storedNodeRules : none;
  if (kind === "KubeControllersConfiguration") return flavour === "etcdv3" ? none : kubeControllersRules;
  return table[kind] ?? none;
}

const none: Rules = {};

/** Where Kubernetes holds the nodes, their labels are always the same: there is nothing to turn off. */
const kubeControllersRules: Rules = {
  check: ({ spec }) => {
    const { controllers } = spec;
    const node = isRecord(controllers) && isRecord(controllers.node) ? controllers.node : {};
    if (node.syncLabels !== "Disabled") return;
    throw new ResourceError("invalid", "invalid SyncLabels value", {
      next: "leave syncLabels out, or set it to Enabled",
    });
  },
};

/** The filters that a peer names must be there. */
const bgpPeerRules: Rules = {
  problems: async (peer, { neighbours }) => {
    const wanted = Array.isArray(peer.spec.filters) ? peer.spec.filters : [];
    if (wanted.length === 0) return [];
    const known = (await neighbours.list("BGPFilter")).map(({ metadata }) => metadata.name);
    const missing = wanted.filter((name) => !known.includes(name));
    if (missing.length === 0) return [];
    const value = `[${missing.join(" ")}]`; // as Go prints a list
    const said = { name: "BGPPeer.Spec.Filters", value, reason: "BGPFilter(s) not found" };
    return [{ field: "spec.filters", rule: `must be there: ${missing.join(", ")} is not`, ...said }];
  },
};

/** An endpoint's name follows from what it is the endpoint of; its namespace and orchestrator can be selected by. */
const workloadEndpointRules: Rules = {
  prepare: (endpoint) => {
    const { metadata, spec } = endpoint;
    const naming = workloadEndpointName(spec);
    const labels = {
      ...metadata.labels,
      "projectcalico.org/namespace": metadata.namespace ?? "",
      "projectcalico.org/orchestrator": String(spec.orchestrator ?? ""),
    };
    const name = metadata.name || (naming.is === "name" ? naming.name : "");
    return { ...endpoint, metadata: { ...metadata, name, labels } };
  },
};

/** One profile is always there, and always the same. */
const profileRules: Rules = {
  prepare: (profile, { isNew }) => {
    if (profile.metadata.name !== defaultAllowProfile) return profile;
    const isDefault = `The profile "${defaultAllowProfile}" is default provided by Calico`;
    if (isNew) {
      throw alreadyExists(defaultAllowProfile, `${defaultAllowProfile} already exists. ${isDefault}`);
    }
    throw unsupported("Update", defaultAllowProfile, provided("updated"));
  },
  beforeDelete: async (id, { revision }) => {
    if (id.name === defaultAllowProfile) throw unsupported("Delete", defaultAllowProfile, provided("deleted"));
    return revision;
  },
};

function provided(what: string): string {
  return `The profile "${defaultAllowProfile}" is a default provided by Calico and cannot be ${what}`;
}

const table: { readonly [kind in ApiKind]?: Rules } = {
  BGPPeer: bgpPeerRules,
  GlobalNetworkPolicy: policyRules,
  IPPool: ipPoolRules,
  NetworkPolicy: policyRules,
  Profile: profileRules,
  StagedGlobalNetworkPolicy: policyRules,
  StagedNetworkPolicy: policyRules,
  Tier: tierRules,
  WorkloadEndpoint: workloadEndpointRules,
};

/** Lists are in the order of names but for kinds that have their own. */
export function inListOrder(items: readonly V3Object[], { compare }: Rules): readonly V3Object[] {
  return compare === undefined ? items : [...items].sort(compare);
}
