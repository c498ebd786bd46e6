// Pod: a workload with addresses. Read member by member (calico/convert/pod), because thousands of them are.
import { servedKind } from "../kind.ts";

export const pod = servedKind("v1/pods", "namespaced", {
  carries: "enforcement",
  rights: { cni: ["get", "status:patch"], ctl: ["get", "list", "status:patch"] },
});
