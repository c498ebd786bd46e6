// The same kubeconfig files read by us and by @kubernetes/client-node, which is here for this alone. Where the two differ
// because kubectl (client-go) does otherwise, the difference stands in the table below, and we are on kubectl's side.
import { deepEqual, equal } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { RequestOptions } from "node:https";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { KubeConfig } from "@kubernetes/client-node";
import fc from "fast-check";
import { stringify } from "yaml";
import { loadIdentity } from "./load-identity.ts";

let dir = "";
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "cattail-oracle-"));
  for (const name of ["a", "b"]) await writeFile(join(dir, name), `content of ${name}`);
});
after(() => rm(dir, { recursive: true }));

type Read = { [field: string]: unknown } | "refused";

async function ours(files: readonly string[]): Promise<Read> {
  try {
    const kubeconfig = files.join(delimiter);
    const { server, tls, headers, proxy } = await loadIdentity({ kubeconfig, allowExec: true, allowProxy: true });
    return {
      server: server.href.replace(/\/$/, ""),
      ...text({ ca: tls.ca, cert: tls.cert, key: tls.key }),
      name: tls.servername,
      isChecked: tls.rejectUnauthorized,
      headers,
      proxy,
    };
  } catch {
    return "refused";
  }
}

async function theirs(files: readonly string[]): Promise<Read> {
  try {
    const config = new KubeConfig();
    for (const [index, file] of files.entries()) {
      const next = index === 0 ? config : new KubeConfig();
      next.loadFromFile(file);
      if (index > 0) config.mergeConfig(next, true);
    }
    const cluster = config.getCurrentCluster();
    if (cluster === null) return "refused";
    const options: RequestOptions & { headers: { [name: string]: string } } = { headers: {} };
    await config.applyToHTTPSOptions(options);
    const headers = Object.fromEntries(
      Object.entries(options.headers).map(([name, value]) => [name.toLowerCase(), value.trim()]),
    );
    if (typeof options.auth === "string") headers.authorization = `Basic ${btoa(options.auth)}`;
    return {
      server: new URL(cluster.server).href.replace(/\/$/, ""),
      ...text({ ca: options.ca, cert: options.cert, key: options.key }),
      name: cluster.tlsServerName || undefined,
      isChecked: !cluster.skipTLSVerify,
      headers,
      proxy: cluster.proxyUrl || undefined,
    };
  } catch {
    return "refused";
  }
}

function text(bytes: { [name: string]: unknown }): { [name: string]: string | undefined } {
  return Object.fromEntries(
    Object.entries(bytes).map(([name, value]) => [name, value === undefined ? value : `${value}`]),
  );
}

const name = fc.constantFrom("a", "b", "c");
const file = fc.constantFrom("a", "./b");
const data = fc.string({ minLength: 1 }).map((content) => Buffer.from(content).toString("base64"));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
/** As a file or as data; with both the two readers differ (see below). */
const content = (field: string) =>
  fc.oneof(
    fc.constant({}),
    file.map((value) => ({ [field]: value })),
    data.map((value) => ({ [`${field}-data`]: value })),
  );
const host = fc.constantFrom("10.0.0.1", "api.example.com", "[fd00::1]");
const server = fc
  .tuple(host, fc.constantFrom("", ":443", ":6443"), fc.constantFrom("", "/", "/k8s/clusters/c-1"))
  .map((parts) => `https://${parts.join("")}`);
const word = fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/);
const cluster = fc
  .tuple(
    fc.record({
      server,
      "insecure-skip-tls-verify": maybe(fc.boolean()),
      "tls-server-name": maybe(word.filter((one) => /^[a-z]/.test(one))),
      "proxy-url": maybe(fc.constantFrom("http://proxy:3128", "https://me:p@proxy", "socks5://proxy:1080")),
    }),
    content("certificate-authority"),
  )
  .map(([fields, ca]) => ({ ...fields, ...ca }));
const pair = fc.oneof(
  fc.constant({}),
  fc.tuple(content("client-certificate"), content("client-key")).filter(hasBoth).map(both),
);
const credential = fc.oneof(
  fc.constant({}),
  fc.record({ token: word.filter((one) => /[a-z]/.test(one)) }),
  fc.record({ username: word.filter((one) => /^[a-z]/.test(one)), password: word.filter((one) => /^[a-z]/.test(one)) }),
);
const user = fc
  .tuple(pair, credential, fc.record({ as: maybe(word.filter((one) => /^[a-z]/.test(one))) }))
  .map((parts) => Object.assign({}, ...parts) as object);
const context = fc.record({ cluster: name, user: name });

function hasBoth([cert, key]: [object, object]): boolean {
  return Object.keys(cert).length > 0 && Object.keys(key).length > 0;
}
function both([cert, key]: [object, object]): object {
  return { ...cert, ...key };
}

/** Every name has its entry, in one file or the other. */
const config = fc.record({
  clusters: fc.tuple(cluster, cluster, cluster),
  users: fc.tuple(user, user, user),
  contexts: fc.tuple(context, context, context),
  current: name,
  inSecond: fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }),
  isYaml: fc.boolean(),
  isSplit: fc.boolean(),
});

test("a kubeconfig means the same to us and to client-node", async () => {
  await fc.assert(
    fc.asyncProperty(config, async ({ clusters, users, contexts, current, inSecond, isYaml, isSplit }) => {
      const entries = [
        ...clusters.map((value, at) => ({ list: "clusters", value: { name: "abc"[at], cluster: value } })),
        ...users.map((value, at) => ({ list: "users", value: { name: "abc"[at], user: value } })),
        ...contexts.map((value, at) => ({ list: "contexts", value: { name: "abc"[at], context: value } })),
      ];
      const part = (isSecond: boolean) => {
        const here = entries.filter((_, at) => isSecond === (isSplit && inSecond[at] === true));
        const lists = Object.groupBy(here, ({ list }) => list);
        return Object.fromEntries(Object.entries(lists).map(([list, of = []]) => [list, of.map(({ value }) => value)]));
      };
      const write = isYaml ? stringify : JSON.stringify;
      const files = [join(dir, "first"), ...(isSplit ? [join(dir, "second")] : [])];
      await writeFile(files[0] ?? "", write({ ...part(false), "current-context": current }));
      if (isSplit) await writeFile(files[1] ?? "", write({ apiVersion: "v1", kind: "Config", ...part(true) }));
      deepEqual(await ours(files), await theirs(files));
    }),
    { numRuns: 500 },
  );
});

type Fields = { [name: string]: unknown };
const whole = (fields: { user?: Fields; cluster?: Fields; more?: Fields }) => ({
  clusters: [{ name: "c", cluster: { server: "https://a", ...fields.cluster } }],
  users: [{ name: "u", user: { ...fields.user } }],
  contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
  "current-context": "c",
  ...fields.more,
});

/** kubectl's rule, which is ours, and what client-node makes of the same file. */
const differences: { name: string; files: unknown[]; see: (read: Read) => unknown; we: unknown; they: unknown }[] = [
  {
    name: "data counts before a file",
    files: [whole({ cluster: { "certificate-authority": "a", "certificate-authority-data": btoa("data") } })],
    see: ca,
    we: "data",
    they: "content of a",
  },
  {
    name: "the field is tokenFile, and its content is looked for beside the kubeconfig",
    files: [whole({ user: { tokenFile: "a" } })],
    see: authorization,
    we: "Bearer content of a",
    they: undefined,
  },
  {
    name: "token-file is no field",
    files: [whole({ user: { "token-file": "/proc/version" } })],
    see: (read) => authorization(read) === undefined,
    we: true,
    they: false,
  },
  {
    name: "the first file that has a name counts",
    files: [whole({ user: { token: "first" } }), whole({ user: { token: "second" } })],
    see: authorization,
    we: "Bearer first",
    they: undefined,
  },
  {
    name: "the current-context may stand in the second file",
    files: [{ ...whole({ user: { token: "t" } }), "current-context": "" }, { "current-context": "c" }],
    see: authorization,
    we: "Bearer t",
    they: undefined,
  },
  {
    name: "two entries of a name in one file are a mistake",
    files: [
      whole({
        more: {
          users: [
            { name: "u", user: { token: "1" } },
            { name: "u", user: { token: "2" } },
          ],
        },
      }),
    ],
    see: authorization,
    we: undefined,
    they: "Bearer 1",
  },
  {
    name: "a context's user has to be there",
    files: [whole({ more: { users: [] } })],
    see: (read) => read === "refused",
    we: true,
    they: false,
  },
  {
    name: "without a user the CA counts all the same",
    files: [
      whole({
        cluster: { "certificate-authority": "a" },
        more: { contexts: [{ name: "c", context: { cluster: "c" } }] },
      }),
    ],
    see: ca,
    we: "content of a",
    they: undefined,
  },
  {
    name: "a token and a password are one too many",
    files: [whole({ user: { token: "t", username: "me", password: "p" } })],
    see: (read) => read === "refused",
    we: true,
    they: false,
  },
  {
    name: "a certificate needs its key",
    files: [whole({ user: { "client-certificate": "a" } })],
    see: (read) => read === "refused",
    we: true,
    they: false,
  },
  {
    name: "groups, uid and more of an impersonated user are sent, too",
    files: [whole({ user: { as: "me", "as-groups": ["g", "h"], "as-uid": "7", "as-user-extra": { "a/B": ["x"] } } })],
    see: (read) => (read === "refused" ? read : Object.keys(read.headers ?? {}).sort()),
    we: ["impersonate-extra-a%2Fb", "impersonate-group", "impersonate-uid", "impersonate-user"],
    they: ["impersonate-user"],
  },
  {
    name: "a server without TLS is spoken to without further words",
    files: [whole({ cluster: { server: "http://127.0.0.1:8080" } })],
    see: (read) => read === "refused",
    we: false,
    they: true,
  },
  {
    name: "base64 that is none is a mistake",
    files: [whole({ cluster: { "certificate-authority-data": "-----BEGIN" } })],
    see: (read) => read === "refused",
    we: true,
    they: false,
  },
  {
    name: "what was compiled into other clients is not here",
    files: [whole({ user: { "auth-provider": { name: "tokenFile", config: { tokenFile: "/dev/null" } } } })],
    see: (read) => read === "refused",
    we: true,
    they: false,
  },
];

function ca(read: Read): unknown {
  return read === "refused" ? read : read.ca;
}
function authorization(read: Read): unknown {
  return read === "refused" ? undefined : (read.headers as Fields).authorization;
}

for (const { name: rule, files, see, we, they } of differences) {
  test(`where client-node differs from kubectl, we are with kubectl: ${rule}`, async () => {
    const paths = files.map((_, at) => join(dir, `difference-${at}`));
    for (const [at, path] of paths.entries()) await writeFile(path, JSON.stringify(files[at]));
    deepEqual(see(await ours(paths)), we);
    deepEqual(see(await theirs(paths)), they);
  });
}

test("a missing file among several is passed over, as kubectl does; alone it is a mistake", async () => {
  const there = join(dir, "there");
  await writeFile(there, JSON.stringify(whole({ user: { token: "t" } })));
  equal(authorization(await ours([join(dir, "none"), there])), "Bearer t");
  equal(await ours([join(dir, "none")]), "refused");
});
