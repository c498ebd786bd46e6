// What lies on a host for the CNI plugin: its configuration, its kubeconfig and how long that is good, the node's name and MTU.
import { X509Certificate } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { isRecord, type JsonRecord, messageOf, parseJson } from "../../../base/lib/index.ts";
import { whoMayReplace } from "../../../base/linux/files.ts";
import type { CniFacts } from "../facts.ts";

const folder = "/etc/cni/net.d";
/** As node/cni has it. */
export const agentSocket = "/var/run/calico/cattail/cni.sock";

export function readPluginFiles(): CniFacts {
  const nodeNameFile = readText("/var/lib/calico/nodename");
  const mtuFile = Number(readText("/var/lib/calico/mtu") ?? Number.NaN);
  const unsafeSocket = socketProblem();
  const found = findConfiguration();
  const mtu = found === undefined ? undefined : found.plugin.mtu;
  const ipam = found === undefined ? undefined : found.plugin.ipam;
  const kubernetes = found === undefined ? undefined : found.plugin.kubernetes;
  const kubeconfig = isRecord(kubernetes) ? kubernetes.kubeconfig : undefined;
  return {
    ...(found === undefined ? {} : { file: found.file, ...missingPrograms(found.types) }),
    ...(found?.before === undefined ? {} : { before: found.before }),
    ...(typeof mtu === "number" && mtu > 0 ? { mtu } : {}),
    ...(isRecord(ipam) && typeof ipam.type === "string" ? { ipam: ipam.type } : {}),
    ...(nodeNameFile === undefined ? {} : { nodeNameFile: nodeNameFile.trim() }),
    ...(Number.isNaN(mtuFile) ? {} : { mtuFile }),
    ...(unsafeSocket === undefined ? {} : { unsafeSocket }),
    ...(typeof kubeconfig === "string" ? { credentials: readCredentials(kubeconfig) } : {}),
  };
}

function socketProblem(): string | undefined {
  try {
    return whoMayReplace(agentSocket);
  } catch {
    return undefined; // no agent of ours has been here
  }
}

type Configuration = {
  readonly file: string;
  readonly plugin: JsonRecord;
  /** Of all plugins of the file, with those that give addresses. */
  readonly types: readonly string[];
  readonly before?: NonNullable<CniFacts["before"]>;
};

/** Those that call others' plugins, which may be Calico's. */
const metaPlugins = /^(multus|genie|danm)/;

/** The first by name that has Calico in it; runtimes take the first of all. */
function findConfiguration(): Configuration | undefined {
  let before: CniFacts["before"];
  for (const name of names().filter((each) => /\.(conflist|conf|json)$/.test(each))) {
    const file = join(folder, name);
    const plugins = pluginsOf(file);
    const plugin = plugins.find(({ type }) => type === "calico");
    const types = plugins.flatMap(({ type, ipam }) => [type, isRecord(ipam) ? ipam.type : undefined]);
    const asked = [...new Set(types.filter((type) => typeof type === "string"))];
    if (plugin !== undefined) return { file, plugin, types: asked, ...(before === undefined ? {} : { before }) };
    const [first] = asked;
    if (first !== undefined && !metaPlugins.test(first)) before ??= { file, type: first };
  }
  return undefined;
}

function pluginsOf(file: string): JsonRecord[] {
  try {
    const read = parseJson(readFileSync(file, "utf8"));
    return (isRecord(read) && Array.isArray(read.plugins) ? read.plugins : [read]).filter(isRecord);
  } catch {
    return []; // of another plugin, or half written: the runtime says so in its log
  }
}

/** Where runtimes look for plugins, unless they are told otherwise. */
const usualFolders = ["/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"];

/** Where none of them is, and no runtime's own plugin either, another folder is in use. */
function missingPrograms(types: readonly string[]): Pick<CniFacts, "missingPrograms" | "programFolders"> {
  const programFolders = usualFolders.filter((each) => existsSync(each));
  const isThere = (type: string) => programFolders.some((each) => existsSync(join(each, type)));
  const missing = types.filter((type) => !isThere(type));
  const isElsewhere = missing.length === types.length && !isThere("loopback");
  return missing.length === 0 || isElsewhere ? {} : { missingPrograms: missing, programFolders };
}

function names(): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return []; // told as a configuration that is missing
  }
}

type Credentials = NonNullable<CniFacts["credentials"]>;

/** When the user's certificate or token of a kubeconfig ends. */
function readCredentials(file: string): Credentials {
  try {
    const user = userOf(parse(readFileSync(file, "utf8")));
    const pem = textAt(user, "client-certificate-data");
    const path = textAt(user, "client-certificate");
    if (pem !== undefined || path !== undefined) {
      const bytes = pem === undefined ? readFileSync(resolve(dirname(file), path ?? "")) : Buffer.from(pem, "base64");
      return { file, of: "certificate", expiresMs: new X509Certificate(bytes).validToDate.getTime() };
    }
    const tokenFile = textAt(user, "tokenFile");
    const token = textAt(user, "token") ?? (tokenFile === undefined ? undefined : readFileSync(tokenFile, "utf8"));
    const expiresMs = token === undefined ? undefined : tokenEnd(token.trim());
    return { file, of: "token", ...(expiresMs === undefined ? {} : { expiresMs }) };
  } catch (error) {
    return { file, broken: messageOf(error) };
  }
}

function userOf(config: unknown): JsonRecord {
  if (!isRecord(config)) return {};
  const lists = (name: string) => (Array.isArray(config[name]) ? config[name].filter(isRecord) : []);
  const context = lists("contexts").find(({ name }) => name === config["current-context"])?.context;
  const wanted = isRecord(context) ? context.user : undefined;
  const entry = lists("users").find(({ name }) => name === wanted) ?? lists("users")[0];
  return isRecord(entry?.user) ? entry.user : {};
}

/** Of a JSON web token; others tell nobody when they end. */
function tokenEnd(token: string): number | undefined {
  const [, payload] = token.split(".");
  if (payload === undefined) return undefined;
  try {
    const read: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return isRecord(read) && typeof read.exp === "number" ? read.exp * 1000 : undefined;
  } catch {
    return undefined; // not a web token
  }
}

function textAt(record: JsonRecord, name: string): string | undefined {
  const value = Object.hasOwn(record, name) ? record[name] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // told as a file that is missing
  }
}
