// NetworkSet and GlobalNetworkSet to the set that clients read. A namespaced set has the labels of its namespace through
// the namespace's profile.
import { networkSetSpec } from "../../kinds/index.ts";
import {
  always,
  FieldError,
  goList,
  goMap,
  goString,
  goStruct,
  keyToPath,
  omitEmpty,
  type StringMap,
} from "../../model/index.ts";
import { createConflictProcessor } from "../processor/conflict-processor.ts";
import { createResourceProcessor } from "../processor/keyed-processor.ts";
import type { Converted, Processor, Warning } from "../processor/processor.ts";
import { readNetworks } from "./networks.ts";

type V1NetworkSet = {
  readonly nets: readonly string[];
  /** Undefined is null, which is not {}. */
  readonly labels: StringMap | undefined;
  readonly profile_ids: readonly string[];
};

const v1NetworkSet = goStruct<V1NetworkSet>({
  nets: omitEmpty(goList(goString)),
  labels: always(goMap(goString)),
  profile_ids: omitEmpty(goList(goString)),
});

export function createNetworkSetProcessor(): Processor {
  return createResourceProcessor({
    kind: "NetworkSet",
    schema: networkSetSpec,
    key: ({ namespace, name }) => ({
      is: "NetworkSet",
      name: namespace === "" || name === "" ? "" : `${namespace}/${name}`,
    }),
    convert: ({ metadata, spec }, { namespace }) =>
      convertSet(spec.nets, {
        labels: { ...metadata.labels, "projectcalico.org/namespace": namespace },
        profile_ids: [`kns.${namespace}`],
      }),
  });
}

export function createGlobalNetworkSetProcessor(): Processor {
  return createConflictProcessor({
    kind: "GlobalNetworkSet",
    schema: networkSetSpec,
    owner: "first",
    convert: ({ metadata, spec }, id) => {
      const path = keyToPath({ is: "NetworkSet", name: metadata.name ?? id.name });
      if (path === undefined) throw new FieldError("metadata.name", "must not be empty");
      return { path, converted: convertSet(spec.nets, { labels: metadata.labels, profile_ids: [] }) };
    },
  });
}

function convertSet(texts: readonly string[] | undefined, rest: Omit<V1NetworkSet, "nets">): Converted<string> {
  const warnings: Warning[] = [];
  const nets = readNetworks(texts, { field: "spec.nets", effect: "dropped", warnings });
  return { is: "value", value: v1NetworkSet.write({ nets, ...rest }), warnings };
}
