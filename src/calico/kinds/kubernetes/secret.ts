// Secret: where the passwords of BGP peers are. Rights are wanted in one namespace alone.
import { servedKind } from "../kind.ts";

export const secret = servedKind("v1/secrets", "namespaced", {
  carries: "optional",
  followed: false,
  rights: { node: ["get", "list", "watch"] },
});
