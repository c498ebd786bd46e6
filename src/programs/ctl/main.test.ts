// From the words that were typed to what is printed and the exit code, on a folder as datastore and without any.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startFakeApi } from "../../../test/kit/fake-api.ts";
import { type RecordedOptions, recordedConsole, type Said } from "../../../test/kit/recorded-console.ts";
import { globalFlags } from "./command-line/flags.ts";
import { commands, groups } from "./commands.ts";
import { runCtl } from "./main.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-ctl-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const onFolder = { DATASTORE_TYPE: "directory", DATASTORE_DIRECTORY: folder };

async function ctl(line: string, options: RecordedOptions = {}): Promise<Said & { code: number }> {
  const { console, said } = recordedConsole(options);
  const words = line === "" ? [] : line.split(" ");
  const code = await runCtl(words, console, { program: "calicoctl", version: () => "v0.0.1" });
  return { code, ...said() };
}

const refused: { line: string; err?: string; out?: string; env?: { [name: string]: string } }[] = [
  {
    line: "frobnicate",
    err: 'unknown command "frobnicate" for "calicoctl"\nRun "calicoctl --help" to see the commands.\n',
  },
  {
    line: "ipam frobnicate",
    err: 'unknown command "frobnicate" for "calicoctl ipam"\nRun "calicoctl ipam --help" to see the commands.\n',
  },
  { line: "aply -f x.yaml", err: 'unknown command "aply" for "calicoctl"\nDid you mean apply?\n' },
  { line: "aply", err: 'unknown command "aply" for "calicoctl"\nDid you mean apply?\n' },
  { line: "help aply", err: 'unknown command "aply" for "calicoctl"\nDid you mean apply?\n' },
  { line: "get ippools --wide", err: "unknown flag: --wide\n" },
  { line: "get ippools -x", err: "unknown shorthand flag: 'x' in -x\n" },
  { line: "patch ippool", err: "accepts 2 arg(s), received 1\n" },
  { line: "patch ippool a b", err: "accepts 2 arg(s), received 3\n" },
  { line: "label node n1", err: "requires at least 3 arg(s), only received 2\n" },
  { line: "ipam split", err: "accepts 1 arg(s), received 0\n" },
  { line: "apply -f", err: "flag needs an argument: 'f' in -f\n" },
  { line: "convert -f x.yaml", err: "unknown shorthand flag: 'f' in -f\n" },
  { line: "get ippools --output", err: "flag needs an argument: --output\n" },
  {
    line: "get ippools -l loud",
    err: "unknown log level: loud, expected one of: panic, fatal, error, warn, info, debug\n",
  },
  { line: "version --poll nonsense", err: "invalid poll duration specified: nonsense\n" },
  {
    line: "get ipools",
    env: onFolder,
    err: "failed to get resources: resource type 'ipools' is not supported\nDid you mean ippools?\n",
  },
  { line: "get pods", env: onFolder, err: "failed to get resources: resource type 'pods' is not supported\n" },
  { line: "completion tcsh", err: 'unknown shell "tcsh", expected one of: bash, zsh, fish\n' },
  { line: "get nodes -c none.cfg", out: "Error reading config file: none.cfg\n" },
  { line: "ipam show -c none.cfg", out: "Error reading config file: none.cfg\n" },
  { line: "ipam show", env: { DATASTORE_TYPE: "redis" }, err: "unknown datastore type: redis\n" },
];
for (const { line, err = "", out = "", env = {} } of refused)
  test(`refused: ${line}`, async () => deepEqual(await ctl(line, { env }), { code: 1, out, err }));

test("without words, help names all commands and the flags of every command", async () => {
  const { code, out } = await ctl("");
  equal(code, 0);
  for (const { path } of commands) match(out, new RegExp(`^  ${path[0]} `, "m"));
  for (const { name } of globalFlags) ok(out.includes(`--${name}`), name);
  deepEqual(await ctl("--help"), { code, out, err: "" });
  deepEqual(await ctl("help"), { code, out, err: "" });
});

for (const { path } of [...groups, ...commands]) {
  const line = path.join(" ");
  test(`help of ${line}, in three ways, begins with how it is called and has an example`, async () => {
    const { code, out, err } = await ctl(`${line} --help`);
    deepEqual({ code, err }, { code: 0, err: "" });
    match(out, new RegExp(`^Usage: calicoctl ${line} `));
    match(out, new RegExp(`^Examples:\\n(?:.*\\n)*?.*calicoctl ${line}`, "m"));
    equal((await ctl(`help ${line}`)).out, out);
    equal((await ctl(`${line} -h`)).out, out);
  });
}

test("no command has a flag, or a letter, twice, nor one of those that every command has", () => {
  for (const { path, flags } of commands) {
    const all = [...flags, ...globalFlags];
    const names = all.map(({ name }) => name);
    const letters = all.flatMap(({ short, alsoShort }) => [short, alsoShort]).filter((one) => one !== undefined);
    equal(new Set(names).size, names.length, path.join(" "));
    equal(new Set([...letters, "h"]).size, letters.length + 1, path.join(" "));
  }
});

test("the version of a cluster that has none is an error after our own", async () => {
  const { code, out, err } = await ctl("version", { env: onFolder });
  equal(code, 1);
  match(out, /^Client Version: {4}v3\.\d+\.0-cattail-\S+\nGit commit: {8}\S+\n$/);
  match(err, /^unable to retrieve Cluster Version or Type: resource does not exist: ClusterInformation\(default\)/);
});

const seen: { version: string; line: string; says: RegExp | undefined }[] = [
  { version: "v3.25.1", line: "ipam show", says: undefined },
  {
    version: "v3.8.0",
    line: "ipam show",
    says: /^version mismatch\.\nClient Version: {3}v3\.\d+\.0-cattail-0\.0\.1\nCluster Version: {2}3\.8\.0\nUse --allow-version-mismatch to override\n$/,
  },
  { version: "v3.8.0", line: "ipam show --allow-version-mismatch", says: undefined },
  { version: "v3.8.0", line: "get nodes", says: /^failed to get resources: version mismatch\.\n/ },
  { version: "v3.8.0", line: "label node n1 a=b", says: /^failed to get node n1, error version mismatch\.\n/ },
  { version: "v3.8.0", line: "version", says: undefined },
];
for (const { version, line, says } of seen) {
  test(`a cluster of ${version}: ${line} is ${says === undefined ? "not stopped" : "stopped"}`, async () => {
    const information = {
      clusterGUID: "0123456789abcdef0123456789abcdef",
      calicoVersion: version,
      datastoreReady: true,
    };
    writeFileSync(
      join(folder, "information.json"),
      JSON.stringify({
        apiVersion: "projectcalico.org/v3",
        kind: "ClusterInformation",
        metadata: { name: "default" },
        spec: information,
      }),
    );
    const { code, err } = await ctl(line, { env: onFolder });
    rmSync(join(folder, "information.json"));
    if (says === undefined) return ok(!err.includes("version mismatch"), err);
    equal(code, 1);
    match(err, says);
  });
}

const away: { name: string; env: { [name: string]: string } }[] = [
  { name: "an API server", env: { K8S_API_ENDPOINT: "http://127.0.0.1:1" } },
  { name: "an etcd", env: { ETCD_ENDPOINTS: "http://127.0.0.1:1" } },
];
for (const { name, env } of away) {
  test(`${name} that is not there is named with its address, at once`, async () => {
    const { code, out, err } = await ctl("get nodes", { env });
    deepEqual({ code, out }, { code: 1, out: "" });
    match(
      err,
      /^failed to get resources: unable to get Cluster Information to verify version mismatch: .*127\.0\.0\.1:1.*\n/,
    );
    match(err, /ECONNREFUSED.*\nUse --allow-version-mismatch to override\n$/);
  });
}

const forbidden = {
  status: 403,
  body: {
    kind: "Status",
    reason: "Forbidden",
    message: 'ippools is forbidden: User "x" cannot list resource "ippools"',
  },
};
for (const { line, isTerminal, isTold } of [
  { line: "get ippools", isTerminal: false, isTold: false },
  { line: "get ippools", isTerminal: true, isTold: true },
  { line: "get ippools -l warn", isTerminal: false, isTold: true },
]) {
  test(`missing rights: "${line}"${isTerminal ? " on a terminal" : ""} ${isTold ? "names" : "does not name"} the rule to add`, async () => {
    const kinds = { body: { kind: "APIResourceList", resources: [{ name: "ippools" }] } };
    await using api = await startFakeApi([forbidden, kinds]);
    const env = { K8S_API_ENDPOINT: api.url, CALICO_API_GROUP: "crd.projectcalico.org/v1" };
    const { code, out, err } = await ctl(`${line} --allow-version-mismatch`, { env, isTerminal });
    deepEqual({ code, out }, { code: 1, out: "" });
    const rule =
      '- apiGroups: ["crd.projectcalico.org"]\n  resources: ["ippools"]\n  verbs: ["get", "list", "watch"]\n';
    const said = `connection is unauthorized: ${forbidden.body.message}\n`;
    equal(err, isTold ? `${said}Add this rule to a role of this user:\n${rule}` : said);
  });
}

test("-l info says which configuration is used", async () => {
  const { err } = await ctl("version -l info", { env: onFolder });
  match(err, /^time="\S+Z" level=info msg="there is no configuration file; the environment is used" file=\S+\n/);
});

test("a command that is interrupted ends with the code of its signal, and says nothing", async () => {
  const { code, err } = await ctl("version", { env: onFolder, signal: AbortSignal.abort(130) });
  deepEqual({ code, err }, { code: 130, err: "" });
});

test("completion for a link named calicoctl knows what follows each command", async () => {
  const { code, out } = await ctl("completion bash");
  equal(code, 0);
  match(out, /"ipam"\) echo "show check release configure split --log-level --context/);
  match(out, /"get"\) echo "(\S+ )*ippools (\S+ )*--output /);
  match(out, /complete -F _calicoctl calicoctl\n$/);
});
