// Who we are to the API server, and where it is: from a kubeconfig, from the settings, or from the pod's service
// account. Files and plugins are read by @kubernetes/client-node; what they say is turned into what node:https needs.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Agent, RequestOptions } from "node:https";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import type { KubeConfig } from "@kubernetes/client-node";
import { parse as parseYaml } from "yaml";
import { CattailError, isRecord } from "../lib/index.ts";
import { proxyFor } from "./proxy.ts";
import type { KubeSettings } from "./settings.ts";

export type TlsIdentity = {
  readonly ca?: Buffer | string;
  readonly cert?: Buffer | string;
  readonly key?: Buffer | string;
  readonly servername?: string;
  readonly rejectUnauthorized: boolean;
};

export type Identity = {
  readonly server: URL;
  readonly tls: TlsIdentity;
  readonly headers: { readonly [name: string]: string };
  /** A proxy of HTTP between us and the server. */
  readonly proxy?: string;
  /** Connects in another way: through a SOCKS proxy. */
  readonly agent?: Agent;
};

export async function loadIdentity(settings: KubeSettings): Promise<Identity> {
  try {
    return await readIdentity(settings);
  } catch (error) {
    if (error instanceof CattailError) throw error;
    throw badConfig(`cannot read the credentials: ${error}`, error);
  }
}

async function readIdentity(settings: KubeSettings): Promise<Identity> {
  const config = await loadKubeConfig(settings);
  if (settings.currentContext) config.setCurrentContext(settings.currentContext);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw badConfig(`the kubeconfig has no cluster for context "${config.getCurrentContext()}"`);
  refuseUnasked(config, settings);
  const server = new URL(settings.apiEndpoint || cluster.server);
  const proxy = cluster.proxyUrl || proxyFor(server, settings);
  const isSocks = proxy !== undefined && /^socks/i.test(proxy);
  // The library fills in header and certificate, and makes the agent for SOCKS, which Node has not. A plain http server is
  // its error unless skipTLSVerify.
  const options: RequestOptions & { headers: { [name: string]: string } } = { headers: {} };
  if (isSocks) config.clusters = config.clusters.map((one) => (one === cluster ? { ...one, proxyUrl: proxy } : one));
  if (server.protocol === "https:" || isSocks) await config.applyToHTTPSOptions(options);
  const headers: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(options.headers)) headers[name.toLowerCase()] = value.trim();
  if (typeof options.auth === "string") headers.authorization = `Basic ${Buffer.from(options.auth).toString("base64")}`;
  const token = settings.apiToken || (await tokenFromFile(config, settings));
  if (token) headers.authorization = `Bearer ${token}`;
  const isInsecure = settings.insecureSkipTlsVerify || cluster.skipTLSVerify;
  return {
    server,
    headers,
    tls: {
      rejectUnauthorized: !isInsecure,
      ...pick("ca", settings.caFile ? await readFile(settings.caFile) : options.ca),
      ...pick("cert", settings.certFile ? await readFile(settings.certFile) : options.cert),
      ...pick("key", settings.keyFile ? await readFile(settings.keyFile) : options.key),
      ...(cluster.tlsServerName ? { servername: cluster.tlsServerName } : {}),
    },
    ...(proxy === undefined ? {} : { proxy: checkedProxy(proxy) }),
    ...(isSocks && options.agent instanceof Object ? { agent: options.agent as Agent } : {}), // what the library makes
  };
}

function checkedProxy(proxy: string): string {
  const url = URL.canParse(proxy) ? new URL(proxy) : undefined;
  if (url !== undefined && /^(https?|socks[45]?[ah]?):$/.test(url.protocol) && url.hostname !== "") return proxy;
  throw new CattailError("KUBERNETES_PROXY", {
    problem: `the proxy to the API server, ${withoutPassword(proxy)}, is not of the form http://host:port`,
    next: "Correct proxy-url in the kubeconfig, or HTTPS_PROXY and HTTP_PROXY; NO_PROXY names servers that are reached directly",
  });
}

function withoutPassword(url: string): string {
  return url.replace(/\/\/[^/@]*@/, "//…@");
}

async function loadKubeConfig(settings: KubeSettings): Promise<KubeConfig> {
  // Loaded late: its generated API is 85 MB of memory that etcd, directory and memory datastores never need.
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  const files = kubeconfigFiles(settings);
  try {
    if (files.length > 0) {
      for (const [index, file] of files.entries()) {
        const next = index === 0 ? config : new KubeConfig();
        next.loadFromFile(file);
        if (index > 0) config.mergeConfig(next, true);
      }
    } else if (settings.apiEndpoint) {
      const server = settings.apiEndpoint;
      config.loadFromClusterAndUser({ name: "endpoint", server, skipTLSVerify: false }, { name: "endpoint" });
    } else {
      if (!process.env.KUBERNETES_SERVICE_HOST) throw badConfig("there is no kubeconfig, and this is not a pod");
      config.loadFromCluster(settings.serviceAccountRoot ?? "");
    }
  } catch (error) {
    if (error instanceof CattailError) throw error;
    throw badConfig(`cannot load ${files.join(", ") || "the in-cluster configuration"}: ${error}`, error);
  }
  return config;
}

function kubeconfigFiles(settings: KubeSettings): string[] {
  if (settings.kubeconfig) return settings.kubeconfig.split(delimiter).filter((file) => file !== "");
  const home = join(homedir(), ".kube", "config");
  return !settings.apiEndpoint && existsSync(home) ? [home] : [];
}

function refuseUnasked(config: KubeConfig, settings: KubeSettings): void {
  const user = config.getCurrentUser();
  const provider: unknown = user?.authProvider;
  const isPlugin = isRecord(provider) && provider.name !== "tokenFile";
  if ((user?.exec || isPlugin) && !settings.allowExec) {
    throw new CattailError("KUBECONFIG_EXEC", {
      problem: `the kubeconfig's user "${user?.name}" runs a program to get its credentials`,
      next: "name the file in KUBECONFIG yourself if you trust that program, or use a token or a certificate",
    });
  }
  const proxy = config.getCurrentCluster()?.proxyUrl;
  if (proxy && !settings.allowProxy) {
    throw new CattailError("KUBECONFIG_PROXY", {
      problem: `the kubeconfig sends requests through the proxy ${withoutPassword(proxy)}`,
      next: "name the file in KUBECONFIG yourself if you trust that proxy, or remove proxy-url",
    });
  }
}

// The library reads "token-file"; the field of the Go client, which everyone writes, is "tokenFile". Like the names of
// certificates, which the library sees to, it is looked for beside the kubeconfig.
async function tokenFromFile(config: KubeConfig, settings: KubeSettings): Promise<string | undefined> {
  const name = config.getCurrentUser()?.name;
  for (const file of kubeconfigFiles(settings)) {
    const users: unknown = parseYaml(await readFile(file, "utf8"))?.users;
    const user: unknown = Array.isArray(users) ? users.find((entry) => entry?.name === name)?.user : undefined;
    if (isRecord(user) && typeof user.tokenFile === "string")
      return (await readFile(resolve(dirname(file), user.tokenFile), "utf8")).trim();
  }
  return undefined;
}

function pick<Name extends "ca" | "cert" | "key">(name: Name, value: unknown): { [field in Name]?: Buffer | string } {
  const usable = Buffer.isBuffer(value) || typeof value === "string" ? value : undefined;
  // The computed name loses its literal type.
  return (usable === undefined ? {} : { [name]: usable }) as { [field in Name]?: Buffer | string };
}

function badConfig(problem: string, cause?: unknown): CattailError {
  const next = "point KUBECONFIG at a working kubeconfig, or set K8S_API_ENDPOINT";
  return new CattailError("KUBECONFIG_UNUSABLE", { problem, next, cause });
}
