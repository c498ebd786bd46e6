// Who we are to the API server, and where it is: from a kubeconfig, from the settings, or from the pod's service
// account, as what node:https needs. Asked again and again (credentials.ts), it reads all files anew each time and runs a
// plugin only when what that last said has expired or was refused.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { CattailError, type Clock, messageOf, systemClock } from "../../lib/index.ts";
import { readDocument } from "../../yaml/index.ts";
import type { KubeSettings } from "../settings.ts";
import type { ExecCredential } from "./exec-plugin.ts";
import {
  type Cluster,
  type Content,
  type Impersonation,
  type Kubeconfig,
  mergeKubeconfigs,
  type User,
  unusable,
} from "./kubeconfig.ts";
import { checkedProxy, proxyFor, withoutPassword } from "./proxy.ts";

export type TlsIdentity = {
  readonly ca?: Buffer | string;
  readonly cert?: Buffer | string;
  readonly key?: Buffer | string;
  readonly servername?: string;
  readonly rejectUnauthorized: boolean;
};

export type Identity = {
  readonly server: URL;
  /** Where the credentials come from, for people: a user of a kubeconfig, a setting, the pod's service account. */
  readonly from: string;
  readonly tls: TlsIdentity;
  readonly headers: { readonly [name: string]: string | readonly string[] };
  /** Between us and the server: of HTTP or SOCKS. */
  readonly proxy?: string;
  /** Of the wall clock: then a plugin has to be asked again. */
  readonly expiresAtMs?: number;
};

/** `isRefused`: the server does not know the last identity, so nothing of it is used again. */
export type IdentityLoader = (options?: { isRefused: boolean }) => Promise<Identity>;

export function identityLoader(settings: KubeSettings, clock: Clock): IdentityLoader {
  let known: { readonly of: string; readonly credential: ExecCredential } | undefined;
  return async ({ isRefused } = { isRefused: false }) => {
    if (isRefused) known = undefined;
    const { cluster, user } = await readPlaces(settings);
    const ask = async (): Promise<ExecCredential> => {
      if (user.exec === undefined) return {};
      const { runExecPlugin } = await import("./exec-plugin.ts");
      const of = JSON.stringify([user.exec, cluster]);
      const isGood = known?.of === of && (known.credential.expiresAtMs ?? Number.POSITIVE_INFINITY) > clock.wallMs();
      if (known === undefined || !isGood)
        known = { of, credential: await runExecPlugin(user.exec, { cluster: await execCluster(cluster) }) };
      return known.credential;
    };
    return identityOf({ settings, cluster, user, ask });
  };
}

/** Once. */
export function loadIdentity(settings: KubeSettings): Promise<Identity> {
  return identityLoader(settings, systemClock)();
}

type Place = { readonly cluster: Cluster; readonly user: User };

async function readPlaces(settings: KubeSettings): Promise<Place> {
  if (settings.kubeconfigInline) {
    const file = "the inline kubeconfig";
    const content = await parseKubeconfig(file, settings.kubeconfigInline);
    return placeOf(mergeKubeconfigs([{ file, content }]), settings.currentContext);
  }
  const files = kubeconfigFiles(settings);
  if (files.length === 0)
    return settings.apiEndpoint ? endpointAlone(settings.apiEndpoint) : serviceAccount(settings.serviceAccountRoot);
  return placeOf(await readKubeconfigs(files), settings.currentContext);
}

function kubeconfigFiles({ kubeconfig, apiEndpoint }: KubeSettings): string[] {
  if (kubeconfig) return kubeconfig.split(delimiter).filter((file) => file !== "");
  const home = join(homedir(), ".kube", "config");
  return !apiEndpoint && existsSync(home) ? [home] : [];
}

/** Of several files those that are not there are passed over, as kubectl does, so long as there is one. */
async function readKubeconfigs(files: readonly string[]): Promise<Kubeconfig> {
  const parts: { file: string; content: unknown }[] = [];
  for (const file of files) {
    try {
      parts.push({ file, content: await parseKubeconfig(file, await readFile(file, "utf8")) });
    } catch (error) {
      if (error instanceof CattailError) throw error;
      const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT"; // what readFile throws
      if (!isMissing) throw unusable(`${file} cannot be read: ${messageOf(error)}`, "Check its rights", error);
    }
  }
  if (parts.length > 0) return mergeKubeconfigs(parts);
  throw unusable(`${files.join(", ")}: there is no such file`, "Correct KUBECONFIG, or set K8S_API_ENDPOINT");
}

async function parseKubeconfig(file: string, text: string): Promise<unknown> {
  try {
    return await readDocument(text);
  } catch (error) {
    const [line = ""] = messageOf(error).split(/:?\n/); // what follows quotes the file, and it has secrets
    throw unusable(`${file} is not YAML: ${line}`, "Correct the line, or name another file");
  }
}

function placeOf(config: Kubeconfig, wanted: string | undefined): Place {
  const files = config.files.join(", ");
  const name = wanted || config.currentContext;
  const known = [...config.contexts.keys()].slice(0, 10).join(", ") || "none";
  const next = `Set current-context in the kubeconfig, or K8S_CURRENT_CONTEXT, to one of: ${known}`;
  if (name === undefined) throw unusable(`${files}: there is no current-context`, next);
  const context = config.contexts.get(name)?.();
  if (context === undefined) throw unusable(`${files}: there is no context "${name}"`, next);
  const cluster = config.clusters.get(context.cluster)?.();
  if (cluster === undefined) {
    const clusters = [...config.clusters.keys()].slice(0, 10).join(", ") || "none";
    throw unusable(`${context.where}: there is no cluster "${context.cluster}"`, `Name one of: ${clusters}`);
  }
  const user = context.user === undefined ? nobody : config.users.get(context.user)?.();
  if (user !== undefined) return { cluster, user };
  const users = [...config.users.keys()].slice(0, 10).join(", ") || "none";
  throw unusable(`${context.where}: there is no user "${context.user}"`, `Name one of: ${users}`);
}

const nobody: User = { where: "no user" };

function endpointAlone(server: string): Place {
  return {
    cluster: { where: "K8S_API_ENDPOINT", server, skipTlsVerify: false, disableCompression: false },
    user: nobody,
  };
}

function serviceAccount(root = ""): Place {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  if (!host || !port)
    throw unusable(
      "there is no kubeconfig, and this is not a pod",
      "Point KUBECONFIG at a kubeconfig, or set K8S_API_ENDPOINT",
    );
  const account = `${root}/var/run/secrets/kubernetes.io/serviceaccount`;
  const where = "the pod's service account";
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const ca = { file: `${account}/ca.crt` };
  return {
    cluster: { where, server, ca, skipTlsVerify: false, disableCompression: false },
    user: { where, tokenFile: `${account}/token` },
  };
}

type Sources = Place & { readonly settings: KubeSettings; readonly ask: () => Promise<ExecCredential> };

async function identityOf({ settings, cluster, user, ask }: Sources): Promise<Identity> {
  refuseUnasked({ cluster, user }, settings);
  const server = serverUrl(
    settings.apiEndpoint || cluster.server,
    settings.apiEndpoint ? "K8S_API_ENDPOINT" : cluster.where,
  );
  const proxy = cluster.proxyUrl || proxyFor(server, settings);
  const asked = settings.apiToken ? {} : await ask();
  const [ca, cert, key] = await Promise.all([
    contentOf(settings.caFile, cluster.ca, `${cluster.where}: certificate-authority`),
    contentOf(settings.certFile, user.cert, `${user.where}: client-certificate`, asked.cert),
    contentOf(settings.keyFile, user.key, `${user.where}: client-key`, asked.key),
  ]);
  if ((cert === undefined) !== (key === undefined)) {
    const [has, lacks] = cert === undefined ? ["key", "certificate"] : ["certificate", "key"];
    throw unusable(`${user.where}: there is a client ${has} and no ${lacks}`, "Name both, or neither");
  }
  const { expiresAtMs } = asked;
  const setting = settings.apiToken ? "K8S_API_TOKEN" : settings.certFile ? `K8S_CERT_FILE ${settings.certFile}` : "";
  return {
    server,
    from: setting || (user === nobody ? `${cluster.where}, without a user` : user.where),
    headers: { ...(await authorization(settings, user, asked)), ...impersonation(user.impersonate) },
    tls: {
      rejectUnauthorized: !(settings.insecureSkipTlsVerify || cluster.skipTlsVerify),
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(cluster.tlsServerName === undefined ? {} : { servername: cluster.tlsServerName }),
    },
    ...(proxy === undefined ? {} : { proxy: checkedProxy(proxy) }),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  };
}

function refuseUnasked({ cluster, user }: Place, settings: KubeSettings): void {
  if (user.authProvider !== undefined) {
    throw new CattailError("KUBECONFIG_EXEC", {
      problem: `${user.where}: auth-provider "${user.authProvider}" is a plugin that must be compiled into the client, and Cattail has no such plugins`,
      next: "Use an exec plugin (such as kubelogin or gke-gcloud-auth-plugin), a token or a certificate",
    });
  }
  if (user.exec !== undefined && !settings.allowExec) {
    throw new CattailError("KUBECONFIG_EXEC", {
      problem: `${user.where}: it needs to run a program to get credentials`,
      next: "If you trust that program, set KUBECONFIG to the file. Otherwise use a token or a certificate",
    });
  }
  if (cluster.proxyUrl !== undefined && !settings.allowProxy) {
    throw new CattailError("KUBECONFIG_PROXY", {
      problem: `${cluster.where}: it sends requests through the proxy ${withoutPassword(cluster.proxyUrl)}`,
      next: "If you trust that proxy, set KUBECONFIG to the file. Otherwise remove proxy-url",
    });
  }
}

function serverUrl(text: string, where: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.protocol === "https:" || url.protocol === "http:")) return url;
  const shown = JSON.stringify(withoutPassword(text).slice(0, 200));
  throw unusable(`${where}: the server ${shown} is not a URL`, "Write it as https://host:port");
}

type Headers = { [name: string]: string | readonly string[] };

async function authorization(settings: KubeSettings, user: User, asked: ExecCredential): Promise<Headers> {
  const { tokenFile, username, password = "" } = user;
  if (settings.apiToken) return bearer(settings.apiToken);
  if (username !== undefined && (user.token !== undefined || tokenFile !== undefined)) {
    throw unusable(`${user.where}: there is a token and a username`, "Remove one of them: a request can show only one");
  }
  // The plugin's word counts before what stands beside it, and a file before a token: the file may be rotated.
  if (asked.token !== undefined) return bearer(asked.token);
  if (tokenFile !== undefined) {
    const token = (await contentOf(undefined, { file: tokenFile }, `${user.where}: tokenFile`))
      ?.toString("utf8")
      .trim();
    if (!token) throw unusable(`${user.where}: tokenFile ${tokenFile} is empty`, "Write the token into it");
    return bearer(token);
  }
  if (user.token !== undefined) return bearer(user.token.trim());
  if (username === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}

function bearer(token: string): Headers {
  return { authorization: `Bearer ${token}` };
}

function impersonation(as: Impersonation | undefined): Headers {
  if (as === undefined) return {};
  const headers: Headers = { "impersonate-user": as.user };
  if (as.uid !== undefined) headers["impersonate-uid"] = as.uid;
  if (as.groups.length > 0) headers["impersonate-group"] = as.groups;
  // What a header's name may not hold is written in percents, as the API server reads it.
  for (const [name, values] of Object.entries(as.extra))
    headers[`impersonate-extra-${encodeURIComponent(name.toLowerCase())}`] = values;
  return headers;
}

async function contentOf(
  setting: string | undefined,
  content: Content | undefined,
  where: string,
  inPlaceOf?: string,
): Promise<Buffer | string | undefined> {
  if (setting) return readOr(setting, "the settings");
  if (inPlaceOf !== undefined) return inPlaceOf;
  if (content === undefined) return undefined;
  return "data" in content ? content.data : readOr(content.file, where);
}

async function readOr(file: string, where: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw unusable(
      `${where}: ${file} cannot be read: ${messageOf(error)}`,
      "Correct the path, or the file's rights",
      error,
    );
  }
}

async function execCluster(cluster: Cluster) {
  const ca = await contentOf(undefined, cluster.ca, `${cluster.where}: certificate-authority`);
  const { tlsServerName, proxyUrl, execConfig } = cluster;
  return {
    server: cluster.server,
    ...(tlsServerName === undefined ? {} : { "tls-server-name": tlsServerName }),
    ...(cluster.skipTlsVerify ? { "insecure-skip-tls-verify": true } : {}),
    ...(ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
    ...(proxyUrl === undefined ? {} : { "proxy-url": proxyUrl }),
    ...(cluster.disableCompression ? { "disable-compression": true } : {}),
    ...(execConfig === undefined ? {} : { config: execConfig }),
  };
}
