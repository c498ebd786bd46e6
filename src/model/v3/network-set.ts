// NetworkSet and GlobalNetworkSet: networks that selectors can choose by label.
import { list, type SchemaType, struct, text } from "../schema.ts";

export const networkSetSpec = struct({ nets: list(text(), { "x-kubernetes-list-type": "set" }) });
export type NetworkSetSpec = SchemaType<typeof networkSetSpec>;
