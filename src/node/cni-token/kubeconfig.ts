// The text of the plugin's kubeconfig: one cluster, one user with a token. Every value is quoted, and none can bring a line of its own.
import { CattailError } from "../../base/lib/index.ts";

/** Beside the network configuration. */
export const kubeconfigName = "calico-kubeconfig";

export type CniKubeconfig = {
  readonly server: string;
  readonly token: string;
  /** PEM; undefined: what the system trusts. */
  readonly ca?: Uint8Array | string | undefined;
  readonly skipTlsVerify?: boolean;
};

/** Throws CattailError for a server that is no URL, or a token that is none. */
export function cniKubeconfig({ server, token, ca, skipTlsVerify = false }: CniKubeconfig): string {
  const trust = skipTlsVerify
    ? ["    insecure-skip-tls-verify: true"]
    : ca === undefined
      ? []
      : [`    certificate-authority-data: "${Buffer.from(ca).toString("base64")}"`];
  return [
    "# Of Calico's CNI plugin. Written anew whenever its token is: changes are lost.",
    "apiVersion: v1",
    "kind: Config",
    "clusters:",
    "- name: local",
    "  cluster:",
    `    server: "${checkedServer(server)}"`,
    ...trust,
    "users:",
    "- name: calico",
    "  user:",
    `    token: "${checkedToken(token)}"`,
    "contexts:",
    "- name: calico-context",
    "  context:",
    "    cluster: local",
    "    user: calico",
    "current-context: calico-context",
    "",
  ].join("\n");
}

function checkedServer(text: string): string {
  const url = URL.parse(text);
  if (url !== null && ["http:", "https:"].includes(url.protocol) && url.username === "")
    return url.href.replace(/\/$/, "");
  throw new CattailError("CNI_KUBECONFIG", {
    problem: `the API server's address ${JSON.stringify(text)} is not a URL of http or https`,
    next: "Set KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT to where pods' hosts reach the API server",
  });
}

/** What a bearer token may be made of (RFC 6750). */
function checkedToken(token: string): string {
  if (/^[\w.~+/-]+=*$/.test(token)) return token;
  throw new CattailError("CNI_KUBECONFIG", {
    problem: "what the API server gave as a token has characters that no token has",
    next: "Look at what answers at the API server's address: a proxy may have answered in its place",
  });
}
