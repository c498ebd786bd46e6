// ServiceAccount: labels that its pods inherit, as a profile.
import { servedKind } from "../kind.ts";

export const serviceAccount = servedKind("v1/serviceaccounts", "namespaced", {
  carries: "enforcement",
  rights: { ctl: ["get", "list"] },
});
