// What a FelixConfiguration says of the agent's log, which is open before the cluster can say anything.
import { match } from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "../../../test/kit/eventually.ts";
import { silentLog } from "../../base/lib/index.ts";
import { felixSettings, NodeLiveSettings } from "../../node/settings/index.ts";
import { openAgentLogs } from "./agent-log.ts";

test("the log file of a FelixConfiguration takes over; one that cannot be opened is said in the one before", async () => {
  const dir = mkdtempSync(join(tmpdir(), "cattail-agent-log-"));
  try {
    const [one, two] = [join(dir, "one.log"), join(dir, "two.log")];
    const environment = { LogSeverityScreen: "none", LogSeveritySys: "none" };
    const live = new NodeLiveSettings({ environment, file: {} }, { checks: { exists: () => true }, log: silentLog });
    const say = (path: string) => live.setDatastore({ cluster: { LogFilePath: path } });
    say(one);
    const counts = { dropped: () => undefined, failed: () => undefined };
    await using logs = await openAgentLogs("test", felixSettings(live), counts);
    const log = logs.logger();
    log.info("first");
    say(two);
    await eventually(() => {
      log.info("second");
      return textOf(two).includes("second");
    }, "a line in the new file");
    match(textOf(one), /first/);
    say(dir);
    await eventually(() => /The log goes where it went before.*cannot be opened/.test(textOf(two)), "the failure");
  } finally {
    rmSync(dir, { recursive: true });
  }
});

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // not opened yet
  }
}
