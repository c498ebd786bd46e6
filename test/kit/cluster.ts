// A real kube-apiserver on loopback for tests, with an etcd member behind it: a process that a test may kill, freeze and
// start again on the same port, and the users, tokens and rights that a test needs on it.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { writeJson } from "../../src/base/lib/index.ts";
import { type EtcdCluster, etcdPeer, startEtcd } from "./etcd.ts";
import { freePort } from "./free-port.ts";
import { type GoPeer, goPeer } from "./go.ts";

const run = promisify(execFile);

/** The program, built on first use (about five minutes), or why there can be no cluster. */
export async function clusterPeer(): Promise<GoPeer> {
  const etcd = await etcdPeer();
  return etcd.missing === undefined ? goPeer("test/peers/cluster", { buildMinutes: 20 }) : etcd;
}

export type Process = AsyncDisposable & {
  readonly pid: number | undefined;
  /** At once, as a crash does. */
  kill(): Promise<void>;
  /** Runs again with the same data, on the same port. */
  start(): Promise<void>;
  freeze(): void;
  thaw(): void;
};

export type Answer = { readonly status: number; readonly body: string };

export type Cluster = AsyncDisposable & {
  readonly dir: string;
  readonly server: string;
  readonly port: number;
  /** Of a user who may do everything. */
  readonly kubeconfig: string;
  readonly etcd: EtcdCluster;
  readonly apiserver: Process;
  /** One request as that user. */
  ask(method: string, path: string, body?: unknown): Promise<Answer>;
  /** `ask` that insists on success and parses the answer. */
  must(method: string, path: string, body?: unknown): Promise<unknown>;
  /** A kubeconfig of a client certificate; the user has no rights but those bound to `name`. */
  makeUser(name: string, options?: { groups?: string[]; seconds?: number; server?: string }): Promise<string>;
  /** A bearer token of a service account, which is made when it is missing. */
  makeToken(name: string, options?: { namespace?: string; seconds?: number }): Promise<string>;
  /** Binds a ClusterRole of these rules to the user or service account. */
  grant(name: string, subject: Subject, rules: readonly Rule[]): Promise<void>;
};

export type Subject = { kind: "User"; name: string } | { kind: "ServiceAccount"; name: string; namespace: string };
export type Rule = { apiGroups: string[]; resources: string[]; verbs: string[] };

export type ClusterOptions = { apiserverFlags?: string[] };

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const program = await requirePeer();
  const dir = await mkdtemp(join(tmpdir(), "cattail-cluster-"));
  await run(program, ["certs", "--dir", dir]);
  // Often told how far it is, the API server soon knows that its memory is up to date.
  const etcd = await startEtcd({ flags: ["-progress", "5s"] });
  const port = await freePort();
  const server = `https://127.0.0.1:${port}`;
  const file = (name: string) => join(dir, name);
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 16,
    ca: await readFile(file("ca.crt")),
    cert: await readFile(file("admin.crt")),
    key: await readFile(file("admin.key")),
  });
  const ask = (method: string, path: string, body?: unknown) => askOnce(agent, { server, method, path, body });
  const flags = [
    `--etcd-servers=${etcd.members.map(({ url }) => url).join(",")}`,
    `--secure-port=${port}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--tls-cert-file=${file("apiserver.crt")}`,
    `--tls-private-key-file=${file("apiserver.key")}`,
    `--client-ca-file=${file("ca.crt")}`,
    `--service-account-key-file=${file("sa.key")}`,
    `--service-account-signing-key-file=${file("sa.key")}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    "--authorization-mode=RBAC",
    "--service-cluster-ip-range=10.96.0.0/16",
    "--disable-admission-plugins=ServiceAccount", // pods need no controller to make their account
    "--allow-privileged", // as every cluster whose network runs in pods
    "--event-ttl=1h",
    ...(options.apiserverFlags ?? []),
  ];
  const apiserver = makeProcess({
    command: [program, "apiserver", ...flags],
    log: file("apiserver.log"),
    isReady: async () => (await ask("GET", "/readyz").catch(() => undefined))?.status === 200,
  });
  await apiserver.start();
  const must = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await ask(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.slice(0, 500)}`);
    return JSON.parse(answer.body);
  };
  const kubeconfig = file("kubeconfig");
  await writeFile(kubeconfig, kubeconfigText({ server, dir, user: pairOf(dir, "admin") }));
  return {
    dir,
    server,
    port,
    kubeconfig,
    etcd,
    apiserver,
    ask,
    must,
    async makeUser(name, { groups = [], seconds = 86_400, server: otherServer = server } = {}) {
      const given = groups.flatMap((group) => ["--group", group]);
      await run(program, ["cert", "--dir", dir, "--name", name, "--seconds", `${seconds}`, ...given]);
      const path = file(`${name}.kubeconfig`);
      await writeFile(path, kubeconfigText({ server: otherServer, dir, user: pairOf(dir, name) }));
      return path;
    },
    async makeToken(name, { namespace = "default", seconds = 3600 } = {}) {
      const account = `/api/v1/namespaces/${namespace}/serviceaccounts`;
      const made = await ask("POST", account, { metadata: { name } });
      if (made.status !== 201 && made.status !== 409) throw new Error(made.body);
      const answer = await must("POST", `${account}/${name}/token`, {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: { expirationSeconds: seconds },
      });
      return (answer as { status: { token: string } }).status.token;
    },
    async grant(name, subject, rules) {
      const rbac = "/apis/rbac.authorization.k8s.io/v1";
      const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, rules };
      const made = await ask("POST", `${rbac}/clusterroles`, role);
      if (made.status === 409) await must("PUT", `${rbac}/clusterroles/${name}`, role);
      else if (made.status !== 201) throw new Error(made.body);
      const bound = await ask("POST", `${rbac}/clusterrolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
        subjects: [subject.kind === "User" ? { ...subject, apiGroup: "rbac.authorization.k8s.io" } : subject],
      });
      if (bound.status !== 409 && bound.status !== 201) throw new Error(bound.body);
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await apiserver[Symbol.asyncDispose]();
      await etcd[Symbol.asyncDispose]();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export function kubeconfigText(says: { server: string; dir: string; user: object }): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: says.server, "certificate-authority": join(says.dir, "ca.crt") } }],
    users: [{ name: "u", user: says.user }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    "current-context": "c",
  });
}

function pairOf(dir: string, name: string): object {
  return { "client-certificate": join(dir, `${name}.crt`), "client-key": join(dir, `${name}.key`) };
}

async function requirePeer(): Promise<string> {
  const peer = await clusterPeer();
  if (peer.path === undefined) throw new Error(`no servers to test with: ${peer.missing}`);
  return peer.path;
}

type Question = { server: string; method: string; path: string; body: unknown };

/** An API server that makes room for a new kind now and then leaves a question about it unanswered. */
const mostAsked = 5;

function askOnce(agent: Agent, question: Question, asked = 1): Promise<Answer> {
  const { server, method, path, body } = question;
  return new Promise((resolve, reject) => {
    const text = body === undefined ? "" : writeJson(body);
    // Without a length, node:http would send a DELETE's body as the start of the next request.
    const length = { "content-length": Buffer.byteLength(text) };
    // A PATCH is a server-side apply; its body is YAML, of which JSON is a part.
    const type = method === "PATCH" ? "application/apply-patch+yaml" : "application/json";
    const headers = { "content-type": type, accept: "application/json", ...length };
    const timeout = method === "GET" ? 20_000 : 60_000;
    const asking = request(`${server}${path}`, { agent, method, headers, timeout }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
    });
    let isUnanswered = false;
    asking.on("timeout", () => {
      isUnanswered = true;
      asking.destroy(new Error(`no answer to ${method} ${path} for ${timeout / 1000} s`));
    });
    asking.on("error", (error: NodeJS.ErrnoException) => {
      // The server closed a connection that had been idle, just when it was used again: it has not read the question.
      const isUnread = asking.reusedSocket && error.code === "ECONNRESET";
      const mayAskAgain = isUnread || (isUnanswered && method === "GET" && asked < mostAsked);
      if (mayAskAgain) resolve(askOnce(agent, question, asked + 1));
      else reject(error);
    });
    asking.end(text);
  });
}

/** Of a peer that panics while it starts. */
const mostStarts = 3;

type ProcessOptions = { command: string[]; log: string; isReady: (log: string) => Promise<boolean> };

function makeProcess({ command: [program = "", ...parameters], log, isReady }: ProcessOptions): Process {
  let child: ChildProcess | undefined;
  let exited: Promise<void> = Promise.resolve();
  const kill = async () => {
    child?.kill("SIGKILL");
    await exited;
    child = undefined;
  };
  /** Why it did not; undefined once it is ready. */
  const tryToStart = async (): Promise<string | undefined> => {
    const out = openSync(log, "w");
    // Our end of its standard input closes when we die, however we die, and then it leaves too.
    const env = { ...process.env, CATTAIL_STDIN_IS_LIFE: "1" };
    const started = spawn(program, parameters, { stdio: ["pipe", out, out], env });
    closeSync(out);
    child = started;
    exited = new Promise((resolve) => started.once("exit", () => resolve()));
    started.stdin?.on("error", () => undefined); // it may leave before we write: we never do
    const deadline = Date.now() + 120_000;
    for (;;) {
      const said = await readFile(log, "utf8");
      if (await isReady(said)) return undefined;
      if (started.exitCode !== null || started.signalCode !== null || Date.now() > deadline) {
        await kill();
        return `${program} ${parameters[0]} did not become ready:\n${(await readFile(log, "utf8")).slice(-8000)}`;
      }
      await sleep(50);
    }
  };
  return {
    get pid() {
      return child?.pid;
    },
    kill,
    async start() {
      for (let attempt = 1; ; attempt += 1) {
        const problem = await tryToStart();
        if (problem === undefined) return;
        // The API server has a race of its own while it starts with custom resources (a nil pointer in kube-openapi).
        if (attempt === mostStarts || !problem.includes("\npanic: ")) throw new Error(problem);
        console.log(`starting ${program} ${parameters[0]} again, because it panicked`);
      }
    },
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
    [Symbol.asyncDispose]: kill,
  };
}

/** A kubeconfig of a user who may do everything, with a certificate that the doctor does not warn of: the cluster's own is good for a month. */
export function longLived(cluster: Cluster): Promise<string> {
  return cluster.makeUser("lasting-admin", { groups: ["system:masters"], seconds: 365 * 86_400 });
}
