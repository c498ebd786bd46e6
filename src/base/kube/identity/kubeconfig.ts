// Kubeconfig files, read and merged as kubectl does it: of a name that stands in several files the first counts, and the
// first current-context. Paths are relative to the file they stand in. Nothing is looked up here; what is wrong is said
// with file, entry and field. load-identity.ts makes an identity of it.
import { dirname, isAbsolute, join, sep } from "node:path";
import { CattailError, isRecord, type JsonRecord } from "../../lib/index.ts";

/** Bytes that stand in the kubeconfig itself, or in a file. */
export type Content = { readonly data: Buffer } | { readonly file: string };

/** In which file the entry stands, and how to call it there. */
type Entry = { readonly where: string };

export type Cluster = Entry & {
  readonly server: string;
  readonly ca?: Content | undefined;
  readonly tlsServerName?: string | undefined;
  readonly skipTlsVerify: boolean;
  readonly proxyUrl?: string | undefined;
  readonly disableCompression: boolean;
  /** What the cluster tells exec plugins: the extension client.authentication.k8s.io/exec. */
  readonly execConfig?: unknown;
};

export type ExecPlugin = Entry & {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly interactiveMode: "Never" | "IfAvailable" | "Always";
  readonly provideClusterInfo: boolean;
  readonly installHint?: string | undefined;
};

export type User = Entry & {
  readonly cert?: Content | undefined;
  readonly key?: Content | undefined;
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly exec?: ExecPlugin | undefined;
  /** The name of a plugin that was compiled into the client. */
  readonly authProvider?: string | undefined;
  readonly impersonate?: Impersonation | undefined;
};

export type Impersonation = {
  readonly user: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra: { readonly [name: string]: readonly string[] };
};

export type Context = Entry & { readonly cluster: string; readonly user?: string | undefined };

/** An entry is read when it is asked for: one that is broken and not used stops nobody, as with kubectl. */
export type Kubeconfig = {
  readonly files: readonly string[];
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, () => Context>;
  readonly clusters: ReadonlyMap<string, () => Cluster>;
  readonly users: ReadonlyMap<string, () => User>;
};

export type KubeconfigFile = { readonly file: string; readonly content: unknown };

/** First come, first served. `content` is what the YAML says. */
export function mergeKubeconfigs(parts: readonly KubeconfigFile[]): Kubeconfig {
  const contexts = new Map<string, () => Context>();
  const clusters = new Map<string, () => Cluster>();
  const users = new Map<string, () => User>();
  let currentContext: string | undefined;
  for (const { file, content } of parts) {
    const top = topOf(file, content);
    currentContext ||= new Fields(top, file, file).text("current-context");
    collect(contexts, entriesOf({ top, file, list: "contexts", field: "context" }), readContext);
    collect(clusters, entriesOf({ top, file, list: "clusters", field: "cluster" }), readCluster);
    collect(users, entriesOf({ top, file, list: "users", field: "user" }), readUser);
  }
  return { files: parts.map(({ file }) => file), currentContext, contexts, clusters, users };
}

export function unusable(problem: string, next: string, cause?: unknown): CattailError {
  return new CattailError("KUBECONFIG_UNUSABLE", { problem, next, cause });
}

function topOf(file: string, content: unknown): JsonRecord {
  if (content === null || content === undefined) return {}; // an empty file is an empty kubeconfig
  if (!isRecord(content)) throw unusable(`${file} is not a kubeconfig: it has no fields`, "Name another file");
  const { kind = "Config", apiVersion = "v1" } = content;
  if (kind === "Config" && apiVersion === "v1") return content;
  throw unusable(
    `${file} is not a kubeconfig: it holds ${shown(apiVersion)} ${shown(kind)}`,
    "Name a file with apiVersion v1 and kind Config",
  );
}

type List = { readonly top: JsonRecord; readonly file: string; readonly list: string; readonly field: string };

function entriesOf({ top, file, list, field }: List): Map<string, Fields> {
  const entries = top[list] ?? [];
  if (!Array.isArray(entries)) throw unusable(`${file}: ${list} is not a list`, `Write "${list}: []" or a list`);
  const found = new Map<string, Fields>();
  for (const [index, entry] of entries.entries()) {
    const name = isRecord(entry) ? textOf(entry.name) : undefined;
    if (!isRecord(entry) || !name) throw unusable(`${file}: ${list}[${index}] has no name`, "Give it a name");
    if (found.has(name)) throw unusable(`${file}: ${list} has two entries named ${shown(name)}`, "Remove one of them");
    const value = entry[field] ?? {};
    const where = `${file}: ${field} ${shown(name)}`;
    if (!isRecord(value)) throw unusable(`${where}: "${field}" holds no fields`, "Write its fields below it");
    found.set(name, new Fields(value, file, where));
  }
  return found;
}

function collect<T>(into: Map<string, () => T>, entries: Map<string, Fields>, read: (fields: Fields) => T): void {
  for (const [name, fields] of entries) if (!into.has(name)) into.set(name, () => read(fields));
}

function readContext(fields: Fields): Context {
  const { where } = fields;
  return { where, cluster: fields.needed("cluster"), user: fields.text("user") };
}

function readCluster(fields: Fields): Cluster {
  return {
    where: fields.where,
    server: fields.needed("server"),
    ca: fields.content("certificate-authority"),
    tlsServerName: fields.text("tls-server-name"),
    skipTlsVerify: fields.flag("insecure-skip-tls-verify"),
    proxyUrl: fields.text("proxy-url"),
    disableCompression: fields.flag("disable-compression"),
    execConfig: fields
      .records("extensions")
      .find((extension) => extension.text("name") === "client.authentication.k8s.io/exec")?.fields.extension,
  };
}

function readUser(fields: Fields): User {
  const provider = fields.record("auth-provider");
  return {
    where: fields.where,
    cert: fields.content("client-certificate"),
    key: fields.content("client-key"),
    token: fields.text("token"),
    tokenFile: fields.path("tokenFile"),
    username: fields.text("username"),
    password: fields.text("password"),
    exec: readExec(fields),
    authProvider: provider === undefined ? undefined : (provider.text("name") ?? "without a name"),
    impersonate: readImpersonation(fields),
  };
}

function readExec(user: Fields): ExecPlugin | undefined {
  const fields = user.record("exec");
  if (fields === undefined) return undefined;
  const env = fields.records("env").map((one) => [one.needed("name"), one.text("value") ?? ""]);
  const command = fields.needed("command");
  const interactiveMode = fields.text("interactiveMode") ?? "IfAvailable";
  if (interactiveMode !== "Never" && interactiveMode !== "IfAvailable" && interactiveMode !== "Always")
    throw fields.wrong("interactiveMode", "Never, IfAvailable or Always");
  return {
    where: fields.where,
    apiVersion: fields.text("apiVersion") ?? "",
    // Only one that says a folder is looked for beside the kubeconfig; a bare name is found in PATH.
    command: command.includes(sep) ? fields.beside(command) : command,
    args: fields.texts("args"),
    env: Object.fromEntries(env),
    interactiveMode,
    provideClusterInfo: fields.flag("provideClusterInfo"),
    installHint: fields.text("installHint"),
  };
}

function readImpersonation(fields: Fields): Impersonation | undefined {
  const user = fields.text("as");
  const uid = fields.text("as-uid");
  const groups = fields.texts("as-groups");
  const extraFields = fields.record("as-user-extra");
  const extra = Object.fromEntries(
    Object.keys(extraFields?.fields ?? {}).map((name) => [name, extraFields?.texts(name) ?? []]),
  );
  if (user !== undefined) return { user, uid, groups, extra };
  if (uid === undefined && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
  throw unusable(`${fields.where}: as-uid, as-groups and as-user-extra need "as"`, 'Add "as" with the user\'s name');
}

/** The fields of one entry, each read as what it must be. Absent, null and "" are the same, as they are to Go. */
class Fields {
  readonly fields: JsonRecord;
  readonly where: string;
  readonly #file: string;

  constructor(fields: JsonRecord, file: string, where: string) {
    this.fields = fields;
    this.#file = file;
    this.where = where;
  }

  text(name: string): string | undefined {
    const value = this.#own(name);
    if (value === undefined) return undefined;
    const text = textOf(value);
    if (text === undefined) throw this.wrong(name, "text");
    return text === "" ? undefined : text;
  }

  needed(name: string): string {
    const text = this.text(name);
    if (text === undefined) throw unusable(`${this.where}: "${name}" is missing`, `Add "${name}"`);
    return text;
  }

  flag(name: string): boolean {
    const value = this.#own(name) ?? false;
    if (typeof value !== "boolean") throw this.wrong(name, "true or false");
    return value;
  }

  texts(name: string): string[] {
    const value = this.#own(name) ?? [];
    if (!Array.isArray(value)) throw this.wrong(name, "a list of texts");
    return value.map((one) => {
      const text = textOf(one);
      if (text === undefined) throw this.wrong(name, "a list of texts");
      return text;
    });
  }

  record(name: string): Fields | undefined {
    const value = this.#own(name);
    if (value === undefined) return undefined;
    if (!isRecord(value)) throw this.wrong(name, "fields");
    return new Fields(value, this.#file, `${this.where}: ${name}`);
  }

  records(name: string): Fields[] {
    const value = this.#own(name) ?? [];
    if (!Array.isArray(value) || !value.every(isRecord)) throw this.wrong(name, "a list of entries with fields");
    return value.map((one, index) => new Fields(one, this.#file, `${this.where}: ${name}[${index}]`));
  }

  path(name: string): string | undefined {
    const path = this.text(name);
    return path === undefined ? undefined : this.beside(path);
  }

  beside(path: string): string {
    return isAbsolute(path) ? path : join(dirname(this.#file), path);
  }

  /** What stands in the kubeconfig itself counts before a file that it names. */
  content(name: string): Content | undefined {
    const text = this.text(`${name}-data`);
    const file = this.path(name);
    if (text === undefined) return file === undefined ? undefined : { file };
    const base64 = text.replace(/[\r\n]/g, "");
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64) || base64.length % 4 !== 0) {
      const next = `Encode the file with "base64 -w0", or name it in "${name}"`;
      throw unusable(`${this.where}: "${name}-data" is not base64`, next);
    }
    return { data: Buffer.from(base64, "base64") };
  }

  wrong(name: string, wanted: string): CattailError {
    return unusable(`${this.where}: "${name}" is ${shown(this.fields[name])}`, `Write ${wanted} there`);
  }

  #own(name: string): unknown {
    return Object.hasOwn(this.fields, name) ? (this.fields[name] ?? undefined) : undefined;
  }
}

/** A number or a boolean where a text belongs (a password, a name) is the text it was written as. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "bigint" || typeof value === "boolean"
      ? String(value)
      : undefined;
}

/** Never more than a glimpse: it may be a secret in the wrong place. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 60));
  if (Array.isArray(value)) return "a list";
  return isRecord(value) ? "an entry with fields" : String(value);
}
