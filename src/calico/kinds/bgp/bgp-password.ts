// A BGP password: where in a Secret it is.
import { flag, kept, lazy, optional, required, struct, text } from "../../model/index.ts";

export const bgpPassword = lazy(() =>
  struct({
    secretKeyRef: struct(
      { name: text({ default: "" }), key: required(kept(text())), optional: optional(flag()) },
      { "x-kubernetes-map-type": "atomic" },
    ),
  }),
);
