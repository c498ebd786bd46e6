import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { wordsCalledAs } from "./called-as.ts";

const cases: { program: string; words: string[]; variables?: { CNI_COMMAND: string }; asks: string[] }[] = [
  { program: "/usr/local/bin/cattail", words: ["typha"], asks: ["typha"] },
  { program: "/usr/local/bin/cattail", words: [], asks: [] },
  { program: "calico-typha", words: [], asks: ["typha"] },
  { program: "/code/calico-typha", words: ["-c", "typha.cfg"], asks: ["typha", "-c", "typha.cfg"] },
  { program: "calico-typha", words: ["--version"], asks: ["typha", "--version"] },
  { program: "/usr/bin/calico", words: ["component", "typha"], asks: ["typha"] },
  { program: "cattail", words: ["component", "typha", "-c", "a.cfg"], asks: ["typha", "-c", "a.cfg"] },
  { program: "calico", words: ["component", "typha", "version"], asks: ["version"] },
  { program: "calico", words: ["version"], asks: ["version"] },
  { program: "/opt/cni/bin/calico-ipam", words: [], asks: ["cni", "ipam"] },
  { program: "/opt/cni/bin/calico", words: [], asks: ["cni", "plugin"] },
  { program: "calico", words: ["-t"], asks: ["cni", "plugin", "-t"] },
  { program: "calico", words: ["{}"], variables: { CNI_COMMAND: "DEL" }, asks: ["cni", "plugin", "{}"] },
  { program: "calico", words: ["version"], variables: { CNI_COMMAND: "DEL" }, asks: ["version"] },
  { program: "calico-ipam", words: ["-upgrade"], asks: ["cni", "ipam", "-upgrade"] },
  { program: "/opt/cni/bin/install", words: [], asks: ["cni", "install"] },
  { program: "calico", words: ["component", "cni", "install"], asks: ["cni", "install"] },
  { program: "/usr/local/bin/calicoctl", words: ["get", "nodes"], asks: ["ctl", "get", "nodes"] },
  { program: "calicoctl", words: [], asks: ["ctl"] },
  { program: "calico", words: ["ctl", "get", "nodes"], asks: ["ctl", "get", "nodes"] },
  { program: "/bin/calico-node", words: ["-felix"], asks: ["node", "felix"] },
  { program: "calico-node", words: ["-confd"], asks: ["node", "bgp"] },
  { program: "calico-node", words: ["-confd", "-confd-run-once"], asks: ["node", "bgp", "--run-once"] },
  { program: "calico-node", words: ["-startup"], asks: ["node", "startup"] },
  {
    program: "calico-node",
    words: ["-startup", "-complete-startup"],
    asks: ["node", "startup", "--complete-startup"],
  },
  { program: "calico-node", words: ["-complete-startup"], asks: ["node", "complete-startup"] },
  { program: "calico-node", words: ["-shutdown"], asks: ["node", "shutdown"] },
  {
    program: "calico-node",
    words: ["-bird-ready", "-felix-ready"],
    asks: ["node", "health", "--bird-ready", "--felix-ready"],
  },
  {
    program: "calico-node",
    words: ["--felix-live", "--bird6-ready=true", "-bird-live=false", "-threshold-time=1m"],
    asks: ["node", "health", "--felix-live", "--bird6-ready", "--threshold-time", "1m"],
  },
  { program: "calico-node", words: ["-init", "-best-effort"], asks: ["node", "init", "--best-effort"] },
  {
    program: "calico-node",
    words: ["-allocate-tunnel-addrs", "-allocate-tunnel-addrs-run-once"],
    asks: ["node", "allocate-tunnel-addrs", "--run-once"],
  },
  { program: "calico-node", words: ["-monitor-addresses"], asks: ["node", "monitor-addresses"] },
  { program: "calico-node", words: ["-status-reporter"], asks: ["node", "status", "report"] },
  { program: "calico-node", words: ["-show-status"], asks: ["node", "status", "show"] },
  { program: "calico-node", words: ["-hostpath-init"], asks: ["node", "hostpath-init"] },
  { program: "calico-node", words: ["-v"], asks: ["version"] },
  {
    program: "calico",
    words: ["component", "confd", "--run-once=true", "--keep-stage-file", "--confdir=/x"],
    asks: ["node", "bgp", "--run-once", "--confdir=/x"],
  },
  {
    program: "calico",
    words: ["component", "node", "init", "--best-effort=F"],
    asks: ["node", "init"],
  },
  {
    program: "calico",
    words: ["component", "node", "startup", "--complete-startup=maybe"],
    asks: ["node", "startup", "--complete-startup=maybe"],
  },
  { program: "calico-node", words: ["run"], asks: ["node", "run"] },
  { program: "calico-node", words: [], asks: ["node"] },
  { program: "calico", words: ["component", "calico-node", "-felix"], asks: ["node", "felix"] },
  { program: "calico", words: ["component", "felix", "-c", "f.cfg"], asks: ["node", "felix", "-c", "f.cfg"] },
  { program: "calico", words: ["component", "confd", "--run-once"], asks: ["node", "bgp", "--run-once"] },
  {
    program: "calico",
    words: ["component", "node", "health", "--felix-ready"],
    asks: ["node", "health", "--felix-ready"],
  },
  { program: "calico", words: ["component", "node", "version"], asks: ["version"] },
  { program: "calico", words: ["health", "--port", "1234"], asks: ["node", "health", "--port", "1234"] },
];

for (const { program, words, variables, asks } of cases)
  test(`"${[program, ...words].join(" ")}" asks for "${asks.join(" ")}"`, () =>
    deepEqual(wordsCalledAs(program, words, variables), asks));

test("a flag that calico-node does not have is refused, with the nearest", () =>
  throws(() => wordsCalledAs("calico-node", ["-felix-redy"]), { code: "NODE_FLAG", next: /-felix-ready/ }));

for (const words of [["component", "apiserver"], ["component"]])
  test(`"calico ${words.join(" ")}" is refused by name`, () =>
    throws(() => wordsCalledAs("calico", words), { code: "OTHER_COMPONENT" }));
