// A Typha that is stopped while it starts leaves nothing that listens, or whoever stopped it would wait for ever.
import { equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { createMemoryDatastore } from "../../src/calico/datastore/index.ts";
import { startTypha } from "../../src/typha/server/index.ts";
import { loadSettings } from "../../src/typha/settings/index.ts";
import { canListen, freePort } from "../kit/free-port.ts";
import { typhaSettings } from "../kit/typha-settings.ts";

// However slow the machine is: it is stopped before it has waited for the addresses long enough.
const clock = { ...systemClock, sleep: (_ms: number, signal?: AbortSignal) => systemClock.sleep(300_000, signal) };
const hosts = ["127.0.0.1", ...((await canListen({ port: 0, host: "::1" })) ? ["::1"] : [])];
const servers = ["health", "metrics", "debug", "dashboard"];
for (const stopAt of servers) {
  test(`stopped as its ${stopAt} address listens, every address is free again`, { timeout: 300_000 }, async () => {
    const ports = await Promise.all(servers.map(() => freePort()));
    const [health, metrics, debug, dashboard] = ports.map(String);
    const settings = await typhaSettings();
    const environment = {
      ...settings,
      ...{ TYPHA_HEALTHPORT: health, TYPHA_DEBUGPORT: debug },
      ...{ TYPHA_PROMETHEUSMETRICSENABLED: "true", TYPHA_PROMETHEUSMETRICSHOST: "127.0.0.1" },
      TYPHA_PROMETHEUSMETRICSPORT: metrics,
      ...{ TYPHA_DASHBOARDENABLED: "true", TYPHA_DASHBOARDHOST: "127.0.0.1", TYPHA_DASHBOARDPORT: dashboard },
    };
    const stop = new AbortController();
    const log = {
      ...silentLog,
      info: (message: string, fields: { [name: string]: unknown } = {}) => {
        if (message === "HTTP server listening" && fields.server === stopAt) stop.abort(new Error("enough"));
      },
    };
    await using datastore = createMemoryDatastore();
    const read = loadSettings({ environment, configFile: "" });
    await rejects(startTypha({ read, datastore, version: "test", clock, log, signal: stop.signal }), /enough/);
    for (const port of [...ports, Number(settings.TYPHA_SERVERPORT)])
      for (const host of hosts) equal(await canListen({ port, host }), true, `${host}, port ${port}`);
  });
}
