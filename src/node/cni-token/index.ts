// The kubeconfig that the CNI plugin reads on every call, and the token in it: asked for once by the installer, kept fresh by the agent.
export { type CniKubeconfig, cniKubeconfig, kubeconfigName } from "./kubeconfig.ts";
export {
  type CniToken,
  cniServiceAccount,
  mountedNamespace,
  requestToken,
  type TokenRequestOptions,
} from "./request-token.ts";
export { type CniTokenOptions, cniTokenPart, refreshAfterMs } from "./token-part.ts";
