// Tests do not depend on what else runs on the machine, nor disturb it: a settings file in its usual place is not read, and
// the ports that a user's server has are taken by nobody but test/alone/, whose files run one by one. What can be seen in
// a file's text is looked for here; a server that is started in some other way is not.
import { deepEqual, ok } from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

const files = ["test/**/*.ts", "src/**/*.test.ts", "tools/**/*.test.ts", "bench/**/*.ts"]
  .flatMap((pattern) => globSync(pattern))
  .filter((file) => !/^test\/(alone|walks)\//.test(file) && !import.meta.filename.endsWith(file));

/** Who has the first in a file says the second in it, too. */
const ports: { of: string; started: RegExp; said: RegExp }[] = [
  {
    of: "a server",
    started: /\bstartTypha\(|attail\(\["typha"/,
    said: /TYPHA_SERVERPORT|serverPort: 0|typhaSettings\(/,
  },
  { of: "a demo", started: /\w(?:\(\[|, )"demo"/, said: /"--port".*"--dashboard-port"/s },
  { of: "probes", started: /TYPHA_HEALTHENABLED: "true"/, said: /TYPHA_HEALTHPORT/ },
  { of: "metrics", started: /TYPHA_PROMETHEUSMETRICSENABLED: "true"/, said: /TYPHA_PROMETHEUSMETRICSPORT/ },
  { of: "a dashboard", started: /TYPHA_DASHBOARDENABLED: "true"/, said: /TYPHA_DASHBOARDPORT/ },
];
const usualPort = /(?:\blisten\((?:\{ port: )?|TYPHA_[A-Z]+PORT: ["`]?|port", ["`])(?:5473|909[3589])\b/;

function complaintsOf(text: string): string[] {
  return [
    ...ports.filter(({ started, said }) => started.test(text) && !said.test(text)).map(({ of }) => `no port for ${of}`),
    ...(usualPort.test(text) ? ["a user's port"] : []),
    ...(/\bloadSettings\(\{(?![^;]*?configFile)/.test(text) ? ["the machine's settings file"] : []),
  ];
}

test("no test outside test/alone/ takes a user's ports or reads the machine's settings file", () => {
  ok(files.length > 200, "the tests were not found");
  const found = files.flatMap((file) => complaintsOf(readFileSync(file, "utf8")).map((what) => `${file}: ${what}`));
  // One test there asks for it, and is skipped on a machine that has it.
  const allowed = ["src/typha/settings/describe-settings.test.ts: the machine's settings file"];
  deepEqual(found, allowed, 'take freePort() of test/kit, or typhaSettings(); loadSettings({ …, configFile: "" })');
});

const cases: { text: string; complaints: string[] }[] = [
  { text: `new Cattail(["typha"], { env: {} })`, complaints: ["no port for a server"] },
  { text: `new Cattail(["typha"], { env: await typhaSettings() })`, complaints: [] },
  { text: `const read = readSettings({}); startTypha({ read })`, complaints: ["no port for a server"] },
  { text: `startTypha({ read: { ...read, values: { ...read.values, serverPort: 0 } } })`, complaints: [] },
  { text: `new Cattail(["demo", "--nodes", "3"])`, complaints: ["no port for a demo"] },
  { text: `spawn(node, [entry, "demo", "--port", port])`, complaints: ["no port for a demo"] },
  { text: `const ports = ["--port", a, "--dashboard-port", b]; new Cattail(["demo", ...ports])`, complaints: [] },
  { text: `{ TYPHA_HEALTHENABLED: "true" }`, complaints: ["no port for probes"] },
  { text: `{ TYPHA_HEALTHENABLED: "true", TYPHA_HEALTHPORT: "9098" }`, complaints: ["a user's port"] },
  { text: `const given = { TYPHA_SERVICE_PORT: "5473" }`, complaints: [] },
  { text: `createServer().listen(5473)`, complaints: ["a user's port"] },
  { text: `createServer().listen({ port: 9093, host })`, complaints: ["a user's port"] },
  { text: `["--dashboard-port", "9095"]`, complaints: ["a user's port"] },
  { text: `const slice = { ports: [{ name: "calico-typha", port: 5473 }] }`, complaints: [] },
  {
    text: `const read = loadSettings({ environment }); f({ configFile })`,
    complaints: ["the machine's settings file"],
  },
  { text: `const read = loadSettings({ environment, configFile: "" })`, complaints: [] },
];
for (const { text, complaints } of cases) {
  test(`${text}: ${complaints.join() || "nothing to say"}`, () => deepEqual(complaintsOf(text), complaints));
}
