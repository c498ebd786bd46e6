// Namespace: labels that its pods inherit, as a profile.
import { servedKind } from "../kind.ts";

export const namespace = servedKind("v1/namespaces", "cluster", {
  carries: "enforcement",
  rights: { cni: ["get"], ctl: ["get", "list"] },
});
