// NetworkSet and GlobalNetworkSet: networks that selectors can choose by label.
import { list, struct, text } from "../schema.ts";

export const networkSetSpec = struct({ nets: list(text(), { "x-kubernetes-list-type": "set" }) });
