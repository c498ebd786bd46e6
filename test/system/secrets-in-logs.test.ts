// Passwords, tokens and keys stand in no log, also when everything is logged and nothing works: each program that has any is started with secrets that
// can be told apart, against a server that refuses every request, and all it writes is searched for them.
import { deepEqual, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Cattail } from "../kit/cattail-process.ts";
import { openDoor } from "../kit/cni-cases/door.ts";
import { freshNamespace, noNamespaces } from "../kit/namespace.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-secrets-"));
const secrets = {
  token: "secret-of-token-5bd1",
  etcdPassword: "secret-of-etcd-77aa",
  inUrl: "secret-of-url-91c3",
  pluginToken: "secret-of-plugin-02ef",
  key: "secret-of-key-c0de",
} as const;

const refused: string[] = [];
const server = createServer((request, response) => {
  refused.push(request.headers.authorization ?? "");
  response
    .writeHead(500, { "content-type": "application/json" })
    .end('{"kind":"Status","status":"Failure","message":"no"}');
});
let port = 0;
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: "u", user: { token: secrets.token } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  writeFileSync(join(folder, "kubeconfig"), JSON.stringify(config));
  writeFileSync(join(folder, "etcd-key"), `-----BEGIN PRIVATE KEY-----\n${secrets.key}\n-----END PRIVATE KEY-----\n`);
  mkdirSync(join(folder, "logs"));
});
after(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const kubernetes = () => ({ DATASTORE_TYPE: "kubernetes", KUBECONFIG: join(folder, "kubeconfig") });
const etcd = () => ({
  DATASTORE_TYPE: "etcdv3",
  ETCD_ENDPOINTS: `http://127.0.0.1:${port}`,
  ETCD_USERNAME: "calico",
  ETCD_PASSWORD: secrets.etcdPassword,
});
const pluginCall = (more: object) =>
  JSON.stringify({
    cniVersion: "1.0.0",
    name: "net",
    type: "calico",
    nodename: "n1",
    log_level: "debug",
    log_file_path: join(folder, "logs", "cni.log"),
    ipam_lock_file: join(folder, "ipam.lock"),
    ipam: { type: "calico-ipam" },
    ...more,
  });
const cniVariables = {
  CNI_COMMAND: "ADD",
  CNI_CONTAINERID: "c1",
  CNI_NETNS: "/proc/self/ns/net",
  CNI_IFNAME: "eth0",
  CNI_PATH: "/nowhere",
  CNI_ARGS: "K8S_POD_NAMESPACE=default;K8S_POD_NAME=web",
};

type Row = {
  readonly name: string;
  readonly words: readonly string[];
  readonly env: () => { readonly [name: string]: string };
  readonly stdin?: () => string;
  /** It goes on trying: ended when it has said this much. */
  readonly until?: RegExp;
  /** It works on the network that it is in. */
  readonly isAgent?: true;
};
const rows: readonly Row[] = [
  { name: "ctl on Kubernetes", words: ["ctl", "-l", "debug", "get", "nodes"], env: kubernetes },
  { name: "ctl on etcd", words: ["ctl", "-l", "debug", "get", "nodes"], env: etcd },
  {
    name: "ctl on etcd with a password in the address",
    words: ["ctl", "-l", "debug", "get", "nodes"],
    env: () => ({ ...etcd(), ETCD_ENDPOINTS: `http://calico:${secrets.inUrl}@127.0.0.1:${port}` }),
  },
  {
    name: "ctl with a key that is none",
    words: ["ctl", "-l", "debug", "get", "nodes"],
    env: () => ({ ...etcd(), ETCD_KEY_FILE: join(folder, "etcd-key"), ETCD_CERT_FILE: join(folder, "etcd-key") }),
  },
  {
    name: "a node's start-up",
    words: ["node", "startup"],
    env: () => ({ ...kubernetes(), NODENAME: "n1", CALICO_STARTUP_LOGLEVEL: "DEBUG", WAIT_FOR_DATASTORE: "false" }),
    until: /datastore/i,
  },
  {
    name: "the plugin on Kubernetes",
    words: ["cni", "plugin"],
    env: () => cniVariables,
    stdin: () =>
      pluginCall({
        datastore_type: "kubernetes",
        policy: { type: "k8s", k8s_auth_token: secrets.pluginToken },
        kubernetes: { kubeconfig: join(folder, "kubeconfig") },
      }),
  },
  {
    name: "the plugin on etcd",
    words: ["cni", "plugin"],
    env: () => cniVariables,
    stdin: () =>
      pluginCall({
        datastore_type: "etcdv3",
        etcd_endpoints: `http://calico:${secrets.inUrl}@127.0.0.1:${port}`,
        etcd_key_file: join(folder, "etcd-key"),
        etcd_cert_file: join(folder, "etcd-key"),
      }),
  },
  {
    name: "the agent",
    isAgent: true,
    words: ["node", "felix"],
    env: () => ({
      ...kubernetes(),
      FELIX_FELIXHOSTNAME: "n1",
      FELIX_DATASTORETYPE: "kubernetes",
      FELIX_LOGSEVERITYSCREEN: "Debug",
      FELIX_ETCDPASSWORD: secrets.etcdPassword,
      FELIX_HEALTHENABLED: "false",
      CATTAIL_CNI_SOCKET: join(folder, "cni", "s"),
    }),
    until: /500|Failure/,
  },
  {
    name: "Typha",
    words: ["typha"],
    env: () => ({
      TYPHA_DATASTORETYPE: "kubernetes",
      KUBECONFIG: join(folder, "kubeconfig"),
      TYPHA_LOGSEVERITYSCREEN: "Debug",
      TYPHA_HEALTHENABLED: "false",
      TYPHA_SERVERPORT: "0",
    }),
    until: /500|Failure/,
  },
];

/** A network of its own, from which only the server can be reached. Who is not root changes nothing anyway. */
function alone(stack: DisposableStack): { program?: readonly string[] } {
  if (noNamespaces !== false) return {};
  const { name, path } = freshNamespace();
  execFileSync("ip", ["-n", name, "link", "set", "lo", "up"]);
  stack.use(openDoor(path, port));
  return { program: ["ip", "netns", "exec", name, process.execPath, "src/programs/main/main.ts"] };
}

for (const { name, words, env, stdin, until, isAgent } of rows)
  test(`no secret in what is written: ${name}`, async () => {
    using stack = new DisposableStack();
    const place = isAgent === true ? alone(stack) : {};
    const input = stdin === undefined ? {} : { stdin: stdin() };
    await using program = new Cattail(words, { env: env(), ...input, ...place });
    if (until !== undefined) await program.until(String(until), () => until.test(program.output) || undefined);
    else await program.ended;
    const logs = readdirSync(join(folder, "logs")).map((file) => readFileSync(join(folder, "logs", file), "utf8"));
    const written = [program.output, ...logs].join("\n");
    ok(written.length > 20, "it has said something");
    const found = Object.entries(secrets).filter(
      ([, secret]) => written.includes(secret) || written.includes(Buffer.from(secret).toString("base64")),
    );
    deepEqual(found, [], written.slice(0, 2000));
  });

test("the secrets were used: the server has seen the token", () => {
  ok(refused.includes(`Bearer ${secrets.token}`));
});
