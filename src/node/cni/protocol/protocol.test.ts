// What a plugin answers to calls that never reach its work, and how its answers look in each version. The recorded cases of the
// original are played in test/system/ipam-golden.test.ts.
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import type { JsonRecord } from "../../../base/lib/index.ts";
import { readArguments } from "./arguments.ts";
import { CniError, toCniError } from "./cni-error.ts";
import { ipamResult } from "./ipam-result.ts";
import { type Plugin, runPlugin } from "./run-plugin.ts";

const plugin: Plugin = {
  about: "a plugin",
  add: async (_call, version) => ({ cniVersion: version }),
  check: async () => undefined,
  saysChecked: "OK\n",
  del: async () => undefined,
  status: async () => undefined,
  collect: async () => undefined,
};
const usual = { CNI_CONTAINERID: "c1", CNI_NETNS: "/ns", CNI_IFNAME: "eth0", CNI_PATH: "/bin" };
const configuration = { cniVersion: "1.0.0", name: "net" };

const calls: {
  name: string;
  variables: { [name: string]: string };
  stdin?: string;
  change?: JsonRecord;
  says: unknown;
}[] = [
  { name: "VERSION needs no configuration", variables: { CNI_COMMAND: "VERSION" }, stdin: "", says: 0 },
  { name: "ADD answers in the configuration's version", variables: { CNI_COMMAND: "ADD", ...usual }, says: 0 },
  { name: "DEL without a namespace", variables: { ...usual, CNI_COMMAND: "DEL", CNI_NETNS: "" }, says: 0 },
  {
    name: "ADD without a container",
    variables: { ...usual, CNI_COMMAND: "ADD", CNI_CONTAINERID: "" },
    says: [4, "required env variables [CNI_CONTAINERID] missing"],
  },
  {
    name: "a name that cannot be, before what is missing or cannot be read",
    variables: { CNI_COMMAND: "ADD", CNI_CONTAINERID: "-x" },
    stdin: "{",
    says: [4, "invalid characters in containerID", "-x"],
  },
  {
    name: "an interface name of sixteen letters",
    variables: { ...usual, CNI_COMMAND: "ADD", CNI_IFNAME: "abcdefghijklmnop" },
    says: [4, "interface name is too long", "interface name should be less than 16 characters"],
  },
  {
    name: "an interface that is called ..",
    variables: { ...usual, CNI_COMMAND: "ADD", CNI_IFNAME: ".." },
    says: [4, "interface name is . or .."],
  },
  {
    name: "a list for a configuration",
    variables: { CNI_COMMAND: "ADD", ...usual },
    stdin: "[]",
    says: [
      6,
      'error unmarshall network config: json: cannot unmarshal array into Go value of type struct { Name string "json:\\"name\\"" }',
    ],
  },
  {
    name: "half a configuration",
    variables: { CNI_COMMAND: "ADD", ...usual },
    stdin: "{",
    says: [6, "error unmarshall network config: unexpected end of JSON input"],
  },
  {
    name: "null for a configuration",
    variables: { CNI_COMMAND: "DEL", ...usual },
    stdin: "null",
    says: [7, "missing network name"],
  },
  {
    name: "a number for a name",
    variables: { CNI_COMMAND: "ADD", ...usual },
    change: { name: 7 },
    says: [
      6,
      "error unmarshall network config: json: cannot unmarshal number into Go struct field .name of type string",
    ],
  },
  {
    name: "a list for a version",
    variables: { CNI_COMMAND: "ADD", ...usual },
    change: { cniVersion: [] },
    says: [
      6,
      "decoding version from network config: json: cannot unmarshal array into Go struct field .cniVersion of type string",
    ],
  },
  {
    name: "CHECK before version 0.4.0",
    variables: { CNI_COMMAND: "CHECK", ...usual },
    change: { cniVersion: "0.3.1" },
    says: [1, "config version does not allow CHECK"],
  },
  {
    name: "CHECK in a version that is newer than ours",
    variables: { CNI_COMMAND: "CHECK", ...usual },
    change: { cniVersion: "1.2.0" },
    says: [1, "plugin version does not allow CHECK"],
  },
  {
    name: "STATUS in a version that does not have it",
    variables: { CNI_COMMAND: "STATUS", ...usual },
    says: [1, "config version does not allow STATUS"],
  },
  {
    name: "STATUS",
    variables: { CNI_COMMAND: "STATUS", ...usual },
    change: { cniVersion: "1.1.0" },
    says: 0,
  },
  { name: "GC", variables: { CNI_COMMAND: "GC", CNI_PATH: "/bin" }, change: { cniVersion: "1.1.0" }, says: 0 },
];
for (const { name, variables, stdin, change, says } of calls)
  test(`a call: ${name}`, async () => {
    const given = stdin ?? JSON.stringify({ ...configuration, ...change });
    const { exitCode, stdout } = await runPlugin(plugin, variables, async () => given);
    if (exitCode === 0) return equal(0, says, stdout);
    const { code, msg, details } = JSON.parse(stdout) as { code: number; msg: string; details?: string };
    deepEqual(details === undefined ? [code, msg] : [code, msg, details], says);
  });

test("a person who starts it by hand is told what it is", async () => {
  const answer = await runPlugin(plugin, {}, async () => "");
  deepEqual(answer, {
    exitCode: 0,
    stdout: "",
    stderr: "a plugin\nCNI protocol versions supported: 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0\n",
  });
});

test("a CHECK that finds nothing wrong prints what the original's does", async () => {
  const variables = { CNI_COMMAND: "CHECK", ...usual };
  const answer = await runPlugin(plugin, variables, async () => JSON.stringify(configuration));
  deepEqual(answer, { exitCode: 0, stdout: "OK\n", stderr: "" });
});

const argumentCases: { text: string; pod?: string; address?: string }[] = [
  { text: "" },
  { text: "IgnoreUnknown=1;A=b" },
  { text: "IP=" },
  { text: "IgnoreUnknown=true;K8S_POD_NAMESPACE=a;K8S_POD_NAME=b;K8S_POD_UID=x", pod: "a/b" },
  { text: "K8S_POD_NAMESPACE=a;K8S_POD_NAME=b;IP=fd00::1", pod: "a/b", address: "fd00::1" },
  { text: "K8S_POD_NAME=b" },
];
for (const { text, pod, address } of argumentCases)
  test(`arguments: "${text}"`, () => {
    const read = readArguments(text);
    equal(read.pod === undefined ? undefined : `${read.pod.namespace}/${read.pod.name}`, pod);
    equal(read.address, address);
  });
for (const text of ["A=b", "A", "A=b=c", "IP=1.2.3", "IgnoreUnknown=perhaps;A=b", "IgnoreUnknown=perhaps"])
  test(`arguments: "${text}" is refused`, () => throws(() => readArguments(text), CniError));

const both = [
  { family: 4, cidr: "10.0.0.1/26" },
  { family: 6, cidr: "fd00::1/122" },
] as const;
const routes = [{ dst: "10.0.0.1/26" }, { dst: "fd00::1/122" }];
test("both families in the oldest form", () =>
  deepEqual(ipamResult("0.2.0", both), {
    cniVersion: "0.2.0",
    ip4: { ip: "10.0.0.1/26", routes: [{ dst: "10.0.0.1/26" }] },
    ip6: { ip: "fd00::1/122", routes: [{ dst: "fd00::1/122" }] },
    dns: {},
  }));
test("both families in the form of 0.3 and 0.4", () =>
  deepEqual(ipamResult("0.4.0", both), {
    cniVersion: "0.4.0",
    ips: [
      { version: "4", address: "10.0.0.1/26" },
      { version: "6", address: "fd00::1/122" },
    ],
    routes,
    dns: {},
  }));
test("both families in the form of 1.0", () =>
  deepEqual(ipamResult("1.0.0", both), {
    cniVersion: "1.0.0",
    ips: [{ address: "10.0.0.1/26" }, { address: "fd00::1/122" }],
    routes,
  }));

test("an error of the layers below keeps its sentence, and its advice becomes the details", () => {
  const error = Object.assign(new Error("no"), { next: "do this" });
  const { code, message, details } = toCniError(error);
  deepEqual([code, message, details], [999, "no", "do this"]);
  equal(toCniError(Object.assign(new Error("no"), { missingRule: "- rule\n" })).details?.endsWith("- rule"), true);
  equal(toCniError("text").message, "text");
  for (const version of ["0.4.0", "1.0.0"] as const) {
    const none = ipamResult(version, []);
    deepEqual([none.ips, none.routes], [undefined, undefined], "lists without elements are not there");
  }
});
