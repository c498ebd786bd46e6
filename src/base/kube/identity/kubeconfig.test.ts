import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { type Kubeconfig, mergeKubeconfigs } from "./kubeconfig.ts";

const cluster = (name: string, fields: object) => ({ name, cluster: { server: "https://a", ...fields } });
const user = (name: string, fields: object) => ({ name, user: fields });
const context = (name: string, fields: object) => ({ name, context: fields });

function merge(...contents: unknown[]): Kubeconfig {
  return mergeKubeconfigs(contents.map((content, index) => ({ file: `/home/me/${index}/config`, content })));
}

test("of a name in several files the first counts, and so does the first current-context", () => {
  const merged = merge(
    { clusters: [cluster("c", { server: "https://first" })], "current-context": "" },
    { clusters: [cluster("c", { server: "https://second" }), cluster("d", {})], "current-context": "b" },
    { "current-context": "c" },
  );
  deepEqual([...merged.clusters.keys()], ["c", "d"]);
  equal(merged.clusters.get("c")?.().server, "https://first");
  equal(merged.currentContext, "b");
});

test("paths are beside the file they stand in; a plugin's bare name is found in PATH", () => {
  const merged = merge(null, {
    clusters: [cluster("c", { "certificate-authority": "ca.crt" })],
    users: [
      user("files", { "client-certificate": "../a.crt", "client-key": "/b.key", tokenFile: "t" }),
      user("beside", { exec: { command: "./bin/login" } }),
      user("in path", { exec: { command: "login" } }),
    ],
  });
  const { cert, key, tokenFile } = merged.users.get("files")?.() ?? {};
  deepEqual([cert, key, tokenFile], [{ file: "/home/me/a.crt" }, { file: "/b.key" }, "/home/me/1/t"]);
  deepEqual(merged.clusters.get("c")?.().ca, { file: "/home/me/1/ca.crt" });
  equal(merged.users.get("beside")?.().exec?.command, "/home/me/1/bin/login");
  equal(merged.users.get("in path")?.().exec?.command, "login");
});

test("what stands in the file counts before a file that it names", () => {
  const fields = {
    "client-certificate": "a.crt",
    "client-certificate-data": btoa("inline"),
    "client-key-data": "QQ==\n",
  };
  const read = merge({ users: [user("u", fields)] }).users.get("u")?.();
  deepEqual([read?.cert, read?.key], [{ data: Buffer.from("inline") }, { data: Buffer.from("A") }]);
});

test("absent, null and empty are the same; numbers where texts belong are texts", () => {
  const fields = { username: 7, password: 12_345_678_901_234_567_890n, token: "", tokenFile: null, as: true };
  const read = merge({ users: [user("u", fields)] }).users.get("u")?.();
  deepEqual(
    [read?.username, read?.password, read?.token, read?.tokenFile, read?.impersonate?.user],
    ["7", "12345678901234567890", undefined, undefined, "true"],
  );
});

test("a broken entry stops nobody who does not use it", () => {
  const merged = merge({ users: [user("broken", { exec: 7 }), user("good", { token: "t" })] });
  equal(merged.users.get("good")?.().token, "t");
  throws(() => merged.users.get("broken")?.(), { code: "KUBECONFIG_UNUSABLE" });
});

const inCluster = (fields: object) => () => merge({ clusters: [cluster("c", fields)] }).clusters.get("c")?.();
const inUser = (fields: object) => () => merge({ users: [user("u", fields)] }).users.get("u")?.();
const refusals: { name: string; read: () => unknown; says: RegExp }[] = [
  { name: "a list", read: () => merge([]), says: /^\/home\/me\/0\/config is not a kubeconfig: it has no fields/ },
  { name: "another kind", read: () => merge({ kind: "Pod" }), says: /config is not a kubeconfig: it holds "v1" "Pod"/ },
  { name: "no list of users", read: () => merge({ users: {} }), says: /config: users is not a list/ },
  { name: "an entry without a name", read: () => merge({ users: [{ user: {} }] }), says: /users\[0\] has no name/ },
  { name: "an empty entry", read: () => merge({ clusters: [null] }), says: /clusters\[0\] has no name/ },
  {
    name: "two entries of a name",
    read: () => merge({ contexts: [context("x", {}), context("x", {})] }),
    says: /contexts has two entries named "x"/,
  },
  {
    name: "a text for fields",
    read: () => merge({ users: [{ name: "u", user: "t" }] }),
    says: /user "u": "user" holds/,
  },
  {
    name: "a context without a cluster",
    read: () => merge({ contexts: [context("x", { user: "u" })] }).contexts.get("x")?.(),
    says: /config: context "x": "cluster" is missing\. Add "cluster"/,
  },
  { name: "no server", read: inCluster({ server: "" }), says: /cluster "c": "server" is missing/ },
  { name: "a server of fields", read: inCluster({ server: {} }), says: /"server" is an entry with fields.*Write text/ },
  {
    name: "yes for true",
    read: inCluster({ "insecure-skip-tls-verify": "yes" }),
    says: /is "yes"\. Write true or false/,
  },
  {
    name: "what is not base64",
    read: inCluster({ "certificate-authority-data": "-----BEGIN" }),
    says: /cluster "c": "certificate-authority-data" is not base64\. Encode the file/,
  },
  { name: "a token of fields", read: inUser({ token: {} }), says: /user "u": "token" is an entry with fields/ },
  { name: "a plugin without a command", read: inUser({ exec: {} }), says: /user "u": exec: "command" is missing/ },
  {
    name: "words of a plugin",
    read: inUser({ exec: { command: "c", args: "a b" } }),
    says: /exec: "args" is "a b"\. Write a list/,
  },
  {
    name: "a plugin's variable without a name",
    read: inUser({ exec: { command: "c", env: [{ value: "v" }] } }),
    says: /exec: env\[0\]: "name" is missing/,
  },
  {
    name: "a mode that there is not",
    read: inUser({ exec: { command: "c", interactiveMode: "Maybe" } }),
    says: /"interactiveMode" is "Maybe"\. Write Never, IfAvailable or Always/,
  },
  {
    name: "groups without a user",
    read: inUser({ "as-groups": ["g"] }),
    says: /as-groups and as-user-extra need "as"/,
  },
];
for (const { name, read, says } of refusals)
  test(`a kubeconfig with ${name} is refused, with where and what to do`, () => {
    throws(
      read,
      (error: Error & { code?: string }) => error.code === "KUBECONFIG_UNUSABLE" && says.test(error.message),
    );
  });

test("a secret in the wrong place is not told in full", () => {
  const secret = "s".repeat(1000);
  throws(inCluster({ "insecure-skip-tls-verify": secret }), (error: Error) => !error.message.includes("s".repeat(100)));
});
