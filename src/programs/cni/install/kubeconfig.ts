// Who the plugin is to the API server. In a pod, a token is asked for with the pod's own account; on a host, with the kubeconfig that is named;
// or somebody has made a kubeconfig for the plugin (an openssl certificate, as in the hard way), which is put in place as it is.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ApiClient, type KubeSettings, loadIdentity } from "../../../base/kube/index.ts";
import { CattailError, isRecord, type JsonRecord, messageOf, silentLog, systemClock } from "../../../base/lib/index.ts";
import { replaceFile } from "../../../base/linux/files.ts";
import {
  cniKubeconfig,
  cniServiceAccount,
  kubeconfigName,
  mountedNamespace,
  requestToken,
} from "../../../node/cni-token/index.ts";
import type { Say } from "./programs.ts";
import type { InstallSettings, Variables } from "./settings.ts";

export type KubeconfigOptions = {
  /** Made for the plugin by somebody else. */
  readonly pluginKubeconfig?: string | undefined;
  /** Of the plugin's service account, where this is no pod. */
  readonly namespace?: string | undefined;
  /** In front of the mounted service account; for tests. */
  readonly root?: string | undefined;
};

/** Whether there is one now. */
export async function installKubeconfig(
  { folders, variables }: InstallSettings,
  options: KubeconfigOptions,
  say: Say,
): Promise<boolean> {
  const file = join(folders.net, kubeconfigName);
  const text = await made(variables, options);
  if (text === undefined) return existsSync(file);
  await replaceFile(file, text, { mode: 0o600 });
  say(`wrote ${file}`);
  return true;
}

async function made(variables: Variables, options: KubeconfigOptions): Promise<string | undefined> {
  if (options.pluginKubeconfig !== undefined) return await given(options.pluginKubeconfig);
  const inPod = await mountedNamespace(options.root);
  const { KUBECONFIG: kubeconfig } = variables;
  if (inPod === undefined && !kubeconfig) return undefined;
  const settings: KubeSettings = {
    ...(kubeconfig ? { kubeconfig, allowExec: true, allowProxy: true } : {}),
    ...(options.root === undefined ? {} : { serviceAccountRoot: options.root }),
  };
  const namespace = options.namespace ?? inPod ?? "kube-system";
  const { server, tls } = await loadIdentity(settings);
  using api = new ApiClient(settings, { clock: systemClock, log: silentLog });
  const serviceAccount = cniServiceAccount(variables);
  const { token } = await requestToken(api, { namespace, serviceAccount, signal: AbortSignal.timeout(patienceMs) });
  return cniKubeconfig({
    server: serviceOf(variables) ?? server.href,
    token,
    ca: tls.ca,
    skipTlsVerify: variables.SKIP_TLS_VERIFY === "true" || !tls.rejectUnauthorized,
  });
}

const patienceMs = 30_000;

/** Undefined: the variables do not say where the API server is. */
function serviceOf(variables: Variables): string | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, KUBERNETES_SERVICE_PROTOCOL } = variables;
  if (!host || !port) return undefined;
  return `${KUBERNETES_SERVICE_PROTOCOL || "https"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** It is read as the plugin will read it: one that cannot be used is refused here, where somebody looks. */
async function given(file: string): Promise<string> {
  try {
    const text = await readFile(file, "utf8");
    mustNotNeedNeighbours(text);
    await loadIdentity({ kubeconfigInline: text });
    return text;
  } catch (error) {
    throw new CattailError("CNI_PLUGIN_KUBECONFIG", {
      problem: `${file} cannot be the plugin's kubeconfig: ${messageOf(error)}`,
      next: "Make it with `kubectl config set-cluster`, `set-credentials --embed-certs=true` and `set-context`; docs/guide/hard-way has the commands",
      cause: error,
    });
  }
}

/** It is put into another folder, where a relative path leads to something else, or to nothing. */
function mustNotNeedNeighbours(text: string): void {
  const plain = text.replace(/^\s*#.*$/gm, "");
  const [, field, path] = relativePath.exec(plain) ?? [];
  if (field !== undefined) throw new Error(`${field} is ${path}, which is not the path from /, and the file is copied`);
}

const relativePath =
  /["']?\b(certificate-authority|client-certificate|client-key|tokenFile)["']?\s*:\s*["']?((?!\/)[^\s"',}]+)/;

/** A plugin that finds none fails for every pod. */
export function mustHaveKubeconfig(configuration: JsonRecord, hasOne: boolean, path: string): void {
  const plugins = Array.isArray(configuration.plugins) ? configuration.plugins : [configuration];
  const isNeeded = plugins.some(
    (plugin: unknown) => isRecord(plugin) && isRecord(plugin.kubernetes) && plugin.kubernetes.kubeconfig === path,
  );
  if (!isNeeded || hasOne) return;
  throw new CattailError("CNI_NO_KUBECONFIG", {
    problem: `the network configuration names ${path}, which is not there, and nothing says how to make it`,
    next: "Set KUBECONFIG to a kubeconfig that may create tokens of service accounts, or name one that was made for the plugin with --plugin-kubeconfig FILE",
  });
}
