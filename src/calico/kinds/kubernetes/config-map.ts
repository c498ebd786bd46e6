// ConfigMap: what kubeadm and Rancher say of a cluster. Rights are wanted in kube-system alone.
import { servedKind } from "../kind.ts";

export const configMap = servedKind("v1/configmaps", "namespaced", {
  carries: "optional",
  followed: false,
  rights: { node: ["get"] },
});
