// Servers found as the original's clients find them: by asking Kubernetes for the Typha service's EndpointSlices before
// every connection, so that servers that come and go are noticed by those who look for one.

import type { KubeSettings } from "../../../base/kube/index.ts";
import { CattailError } from "../../../base/lib/index.ts";
import type { Discovery } from "./server-address.ts";

/** How to reach the API server; as in a kubeconfig, or instead of it. */
export type KubernetesAccess = Pick<
  KubeSettings,
  | "kubeconfig"
  | "currentContext"
  | "apiEndpoint"
  | "caFile"
  | "certFile"
  | "keyFile"
  | "apiToken"
  | "allowExec"
  | "allowProxy"
>;

/** Which Service stands for the servers. By default calico-typha in kube-system. */
export type KubernetesServiceOptions = {
  readonly namespace?: string;
  readonly service?: string;
  /** Servers on this node come first. */
  readonly localNode?: string;
  /** Absent: KUBECONFIG, ~/.kube/config, or the pod's service account. */
  readonly kubernetes?: KubernetesAccess;
  /** The variables that say how to reach Kubernetes, where `kubernetes` does not; absent: the process's own. */
  readonly environment?: { readonly [name: string]: string | undefined };
  readonly random?: () => number;
};

/**
 * A discovery for `servers`: the ready endpoints of a Kubernetes Service. Each call asks anew and leaves no connection
 * behind.
 */
export function kubernetesService(options: KubernetesServiceOptions = {}): Discovery {
  const { namespace = "kube-system", service = "calico-typha", random = Math.random, localNode } = options;
  return async (signal) => {
    // Loaded late: most clients know their server's address and need no API client.
    const { listServiceSlices } = await import("../../../base/kube/index.ts");
    const { addressesOf } = await import("./endpoint-slices.ts");
    const settings = options.kubernetes ?? environmentSettings(options.environment ?? process.env);
    const slices = await listServiceSlices({ namespace, service }, { settings, signal });
    const servers = addressesOf(slices, { random, ...(localNode === undefined ? {} : { localNode }) });
    if (servers.length > 0) return servers;
    throw new CattailError("CLIENT_SERVICE_NOT_READY", {
      problem: `the service ${service} in ${namespace} has no ready server (${slices.length} EndpointSlices, none with a ready address and a port named calico-typha)`,
      next: `Look at "kubectl -n ${namespace} get endpointslices -l kubernetes.io/service-name=${service}" and at the server's pods`,
    });
  };
}

/** As the node's other clients read them: each generic variable also with CALICO_ in front. */
function environmentSettings(environment: { readonly [name: string]: string | undefined }): KubeSettings {
  const generic = (name: string) => environment[`CALICO_${name}`] || environment[name] || "";
  const kubeconfig = generic("KUBECONFIG");
  const eitherCase = (name: string) => environment[name] || environment[name.toLowerCase()] || "";
  return {
    kubeconfig,
    apiEndpoint: generic("K8S_API_ENDPOINT"),
    caFile: generic("K8S_CA_FILE"),
    certFile: generic("K8S_CERT_FILE"),
    keyFile: generic("K8S_KEY_FILE"),
    currentContext: generic("K8S_CURRENT_CONTEXT"),
    // Whoever names a kubeconfig has asked for what it runs and goes through, as with kubectl.
    allowExec: kubeconfig !== "",
    allowProxy: kubeconfig !== "",
    httpsProxy: eitherCase("HTTPS_PROXY"),
    httpProxy: eitherCase("HTTP_PROXY"),
    noProxy: eitherCase("NO_PROXY"),
  };
}
