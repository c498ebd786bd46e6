// Asks the API server for a token of the plugin's service account: short-lived, and not the agent's own, whose rights are wider.
import { readFile } from "node:fs/promises";
import { type ApiClient, isKubeError, KubeError } from "../../base/kube/index.ts";
import { CattailError, isRecord, messageOf } from "../../base/lib/index.ts";

export type CniToken = { readonly token: string; readonly expiresAtMs: number };

export type TokenRequestOptions = {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly signal?: AbortSignal | undefined;
};

const dayS = 24 * 60 * 60;
const defaultServiceAccount = "calico-cni-plugin";
const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

type Variables = { readonly [name: string]: string | undefined };

export function cniServiceAccount({ CALICO_CNI_SERVICE_ACCOUNT: name }: Variables): string {
  return name || defaultServiceAccount;
}

/** Of the service account that this process runs as; undefined: it is no pod of a cluster. */
export async function mountedNamespace(root = ""): Promise<string | undefined> {
  try {
    return (await readFile(`${root}${accountFolder}/namespace`, "utf8")).trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined; // what readFile throws
    throw error;
  }
}

export function mountedTokenFolder(root = ""): string {
  return `${root}${accountFolder}`;
}

export async function requestToken(api: ApiClient, options: TokenRequestOptions): Promise<CniToken> {
  const { namespace, serviceAccount, signal } = options;
  const account = `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts/${encodeURIComponent(serviceAccount)}`;
  const body = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { audiences: [], expirationSeconds: dayS },
  };
  const answer = await api
    .json({ method: "POST", path: `${account}/token`, body, signal })
    .catch((error: unknown) => Promise.reject(refused(error, options)));
  const status = isRecord(answer) && isRecord(answer.status) ? answer.status : {};
  const expiresAtMs = Date.parse(String(status.expirationTimestamp));
  if (typeof status.token === "string" && Number.isFinite(expiresAtMs)) return { token: status.token, expiresAtMs };
  throw new CattailError("CNI_TOKEN", {
    problem: `the answer to the request for a token of ${namespace}/${serviceAccount} has no token with an end`,
    next: "Look at what answers at the API server's address: a proxy may have answered in its place",
  });
}

function refused(error: unknown, { namespace, serviceAccount }: TokenRequestOptions): CattailError {
  const what = `no token for service account ${namespace}/${serviceAccount}: ${messageOf(error)}`;
  if (isKubeError(error, "not-found")) {
    const next = "Create it (`cattail manifests cni` prints it, with its rights), or set CALICO_CNI_SERVICE_ACCOUNT";
    return new CattailError("CNI_TOKEN", { problem: what, next, cause: error });
  }
  if (isKubeError(error, "forbidden")) {
    const next = `Allow whom this runs as to create serviceaccounts/token of ${serviceAccount}; \`cattail manifests cni\` prints the rule`;
    return new CattailError("CNI_TOKEN", { problem: what, next, cause: error });
  }
  const next =
    error instanceof KubeError
      ? error.next
      : "Check that the API server runs and can be reached: `kubectl get --raw /readyz`";
  return new CattailError("CNI_TOKEN", { problem: what, next, cause: error });
}
