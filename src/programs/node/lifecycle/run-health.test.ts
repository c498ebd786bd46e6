// The words of the health command, and that what it reads of the environment is what the table of start-up says.
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { readNodeSettings } from "../../../node/startup/startup.ts";
import { healthSettings, readHealthWords } from "./run-health.ts";

test("one dash or two, a value behind = or in the next word", () => {
  const asked = readHealthWords([
    "-felix-ready",
    "--bird-ready=true",
    "--bird6-ready=false",
    "--bird-live=F",
    "--threshold-time",
    "5s",
    "-o",
    "json",
  ]);
  deepEqual(asked.checks, ["felix-ready", "bird-ready"]);
  deepEqual(Object.fromEntries(asked.values), { "threshold-time": "5s", output: "json" });
  equal(readHealthWords(["--strict", "--grace=3s"]).isStrict, true);
});

test("a word that nobody knows, and a value that is missing, are problems", () => {
  equal(readHealthWords(["--bird-redy"]).problem, 'node health takes no "--bird-redy"');
  equal(readHealthWords(["--port"]).problem, "--port wants a value");
});

const environments = [{}, { FELIX_HEALTHPORT: "1234", FELIX_HEALTHHOST: "::1", CALICO_NODENAME_FILE: "/x" }];
for (const environment of environments) {
  test(`the environment ${JSON.stringify(environment)} is read as start-up reads it`, () => {
    const { healthHost, healthPort, nodeNameFile } = readNodeSettings(environment).values;
    deepEqual(healthSettings(environment), { healthPort, healthHost, nodeNameFile });
  });
}

test("a port that is none is said", () => throws(() => healthSettings({ FELIX_HEALTHPORT: "x" }), /port "x"/));
