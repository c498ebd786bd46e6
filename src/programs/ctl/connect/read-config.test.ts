import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../../base/lib/index.ts";
import { defaultConfigFile } from "../command-line/flags.ts";
import { readConfig } from "./read-config.ts";

const head = "apiVersion: projectcalico.org/v3\nkind: CalicoAPIConfig\nmetadata:\n";

type Case = { file?: string; text?: string; env?: { [name: string]: string } };
const read = ({ file = "my.cfg", text, env = {} }: Case) =>
  readConfig({ file, env, log: silentLog, readText: async () => text });

const understood: (Case & { name: string; config: { [field: string]: string } })[] = [
  {
    name: "a file in YAML",
    text: `${head}spec:\n  datastoreType: "kubernetes"\n  kubeconfig: /k\n`,
    config: { datastoreType: "kubernetes", kubeconfig: "/k" },
  },
  {
    name: "a file in JSON",
    text: '{"apiVersion":"projectcalico.org/v3","kind":"CalicoAPIConfig","spec":{"etcdEndpoints":"http://a:1,http://b:2"}}',
    config: { etcdEndpoints: "http://a:1,http://b:2" },
  },
  {
    name: "a file, whatever the environment says, field by field",
    text: `${head}spec:\n  kubeconfig: /k\n`,
    env: { DATASTORE_TYPE: "etcdv3", ETCD_ENDPOINTS: "http://a:1", KUBECONFIG: "/other" },
    config: { kubeconfig: "/k" },
  },
  { name: "a file without a spec", text: head, config: {} },
  {
    name: "numbers and truth values of a file",
    text: `${head}spec:\n  k8sClientQPS: 50\n  k8sInsecureSkipTLSVerify: true\n  etcdPassword: 12345678901234567890\n`,
    config: { k8sClientQPS: "50", k8sInsecureSkipTLSVerify: "true", etcdPassword: "12345678901234567890" },
  },
  {
    name: "the environment, where the usual file is not there",
    file: defaultConfigFile,
    env: { DATASTORE_TYPE: "kubernetes", KUBECONFIG: "/k", UNRELATED: "x" },
    config: { datastoreType: "kubernetes", kubeconfig: "/k" },
  },
  {
    name: "a variable with CALICO_ in front, which wins",
    file: defaultConfigFile,
    env: {
      KUBECONFIG: "/k",
      CALICO_KUBECONFIG: "/c",
      CALICO_K8SAPITOKEN: "t",
      CALICO_API_GROUP: "projectcalico.org/v3",
    },
    config: { kubeconfig: "/c", k8sAPIToken: "t", calicoAPIGroup: "projectcalico.org/v3" },
  },
  { name: "an empty variable, as if it were not there", file: defaultConfigFile, env: { KUBECONFIG: "" }, config: {} },
];
for (const { name, config, ...given } of understood)
  test(`understood: ${name}`, async () => deepEqual(await read(given), config));

const refused: (Case & { name: string; says: string | RegExp })[] = [
  { name: "a file that was named and is not there", file: "none.cfg", says: "Error reading config file: none.cfg" },
  {
    name: "another kind",
    text: head.replace("CalicoAPIConfig", "IPPool"),
    says: "syntax error in my.cfg: invalid config file: expected kind 'CalicoAPIConfig', got 'IPPool'",
  },
  {
    name: "another version, before another kind",
    text: "apiVersion: v1\nkind: IPPool\n",
    says: "syntax error in my.cfg: invalid config file: unknown APIVersion 'v1'",
  },
  { name: "nothing", text: "", says: "syntax error in my.cfg: invalid config file: unknown APIVersion ''" },
  {
    name: "an unknown field",
    text: `${head}spec:\n  colour: red\n`,
    says: 'syntax error in my.cfg: failed to parse config as YAML/JSON: error unmarshaling JSON: while decoding JSON: json: unknown field "colour"',
  },
  { name: "an unknown field above", text: `${head}specs: {}\n`, says: /unknown field "specs"/ },
  {
    name: "what is no YAML",
    text: "{",
    says: /^syntax error in my\.cfg: failed to parse config as YAML\/JSON: .*yaml: .+/,
  },
  { name: "a list for a text", text: `${head}spec:\n  kubeconfig: [a]\n`, says: /spec\.kubeconfig must be a string/ },
  {
    name: "a word for a truth value",
    text: `${head}spec:\n  k8sInsecureSkipTLSVerify: maybe\n`,
    says: /spec\.k8sInsecureSkipTLSVerify is "maybe", and must be true or false/,
  },
  {
    name: "a word for a truth value in the environment",
    file: defaultConfigFile,
    env: { K8S_INSECURE_SKIP_TLS_VERIFY: "maybe" },
    says: /failed to load config from env vars: K8S_INSECURE_SKIP_TLS_VERIFY is "maybe"/,
  },
];
for (const { name, says, ...given } of refused) test(`refused: ${name}`, () => rejects(read(given), { message: says }));

test("that a file turns the environment off is said to those who ask for the log", async () => {
  const lines: unknown[] = [];
  const log = { ...silentLog, info: (...line: unknown[]) => void lines.push(line) };
  const env = { KUBECONFIG: "/k", CALICO_DATASTORE_TYPE: "etcdv3" };
  await readConfig({ file: "my.cfg", env, log, readText: async () => `${head}spec:\n  kubeconfig: /k\n` });
  equal(lines.length, 1);
  deepEqual(lines[0], [
    "the configuration file is used, and the environment is not",
    { file: "my.cfg", ignored: "CALICO_DATASTORE_TYPE,KUBECONFIG" },
  ]);
});
