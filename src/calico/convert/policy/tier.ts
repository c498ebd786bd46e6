// Tier to its order and default action.
import { defaultTierOrder, type Flavour, tierSpec } from "../../kinds/index.ts";
import { always, goNumber, goPointer, goString, goStruct, omitEmpty } from "../../model/index.ts";
import { createResourceProcessor } from "../processor/keyed-processor.ts";
import type { Processor } from "../processor/processor.ts";

type V1Tier = { readonly order?: number | bigint | undefined; readonly defaultAction: string };

const v1Tier = goStruct<V1Tier>({ order: omitEmpty(goPointer(goNumber)), defaultAction: always(goString) });

export function createTierProcessor({ flavour }: { flavour: Flavour }): Processor {
  // Without an order: in Kubernetes a tier gets the default one when it is read, in etcd it has none.
  const defaultOrder = flavour === "kubernetes" ? defaultTierOrder : undefined;
  return createResourceProcessor({
    kind: "Tier",
    schema: tierSpec,
    key: ({ name }) => ({ is: "Tier", name }),
    convert: ({ spec }) => {
      const defaultAction = spec.defaultAction === "Pass" ? "Pass" : "Deny";
      return { is: "value", value: v1Tier.write({ order: spec.order ?? defaultOrder, defaultAction }) };
    },
  });
}
