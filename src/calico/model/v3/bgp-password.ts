// A BGP password: where in a Secret it is.
import { flag, kept, optional, required, struct, text } from "../schema.ts";

export const bgpPassword = struct({
  secretKeyRef: struct(
    { name: text({ default: "" }), key: required(kept(text())), optional: optional(flag()) },
    { "x-kubernetes-map-type": "atomic" },
  ),
});
