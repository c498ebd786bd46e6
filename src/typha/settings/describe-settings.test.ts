import { equal, match, ok, throws } from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import {
  defaultConfigFile,
  describeSettings,
  formatSettings,
  loadSettings,
  readSettings,
  settingNames,
  settingsHelp,
  settingsPage,
  settingsTable,
} from "./index.ts";

test("the reference page is fresh: node tools/generate-docs.ts", () => {
  equal(readFileSync("docs/reference/settings.md", "utf8"), settingsPage());
});

test("help and page name every setting", () => {
  for (const name of settingNames) {
    const { env } = settingsTable[name];
    ok(settingsHelp().includes(env.at(-1) ?? "?"), name);
    ok(settingsPage().includes(`\`${env[0]}\``), name);
  }
});

test("each value is shown with where it came from, those that were set first", () => {
  const read = readSettings({
    environment: {
      typha_ServerPort: "1",
      TYPHA_ETCDPASSWORD: "hunter2",
      TYPHA_LOGFILEPATH: "none",
      HTTPS_PROXY: "http://me:hunter2@p:1",
    },
    file: { path: "/f", text: "\nHealthPort=2" },
    checks: { exists: () => true },
  });
  const lines = formatSettings(describeSettings(read)).split("\n");
  equal(lines.length, settingNames.length);
  match(lines[0] ?? "", /^TYPHA_SERVERPORT +1 {2}\(environment, as typha_ServerPort\)$/);
  const all = lines.join("\n");
  match(all, /^TYPHA_HEALTHPORT +2 {2}\(\/f, line 2\)$/m);
  match(all, /^TYPHA_ETCDPASSWORD +<redacted> {2}\(environment\)$/m);
  match(all, /^HTTPS_PROXY +http:\/\/<redacted>@p:1 {2}\(environment\)$/m);
  match(all, /^TYPHA_LOGFILEPATH +"" {2}\(environment\)$/m);
  match(all, /^TYPHA_SERVERPINGINTERVALSECS +10 {2}\(default\)$/m);
  ok(!all.includes("hunter2"));
});

test("all problems are in one error, which says what to do next", () => {
  throws(() => loadSettings({ environment: { TYPHA_SERVERPORT: "x", TYPHA_HEALTHPORT: "y" }, configFile: "" }), {
    code: "SETTINGS_INVALID",
    message: /2 settings are wrong:\n {2}- TYPHA_SERVERPORT.*\n {2}- TYPHA_HEALTHPORT.*--print-settings/s,
  });
});

test("what is only odd is in the same error, so that a misspelt name is mended in one go with a wrong value", () => {
  const environment = { TYPHA_SERVERPORT: "x", TYPHA_HEALTHPROT: "9098" };
  throws(() => loadSettings({ environment, configFile: "" }), {
    message: /a setting is wrong: TYPHA_SERVERPORT.*\nbesides: "TYPHA_HEALTHPROT".* mean TYPHA_HEALTHPORT\?/s,
  });
});

test("a configuration file that is named must be there: the server would run with other settings than was meant", () => {
  throws(() => loadSettings({ environment: {}, configFile: "/does/not/exist.cfg" }), {
    code: "SETTINGS_FILE_UNREADABLE",
    message: /\/does\/not\/exist\.cfg does not exist.*--config-file/s,
  });
});

const skip = existsSync(defaultConfigFile) ? `this machine has ${defaultConfigFile}` : false;
test("the usual configuration file need not be there", { skip }, () => {
  const { values, warnings } = loadSettings({ environment: {} });
  equal(values.serverPort, 5473);
  equal(warnings.join(), "");
});
