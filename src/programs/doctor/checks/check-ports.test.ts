import { deepEqual, equal } from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { freePort } from "../../../../test/kit/free-port.ts";
import { settingsWith } from "../../../typha/settings/index.ts";
import { isProblem } from "../finding.ts";
import { checkPorts, wantedPorts } from "./check-ports.ts";

const codesOf = async (ports: { host: string; port: number }[]) =>
  (await checkPorts(ports.map((port, index) => ({ what: `use ${index}`, ...port }))))
    .filter(isProblem)
    .map(({ code }) => code);

test("ports: a free one is fine, a taken one is not", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const address = taken.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  deepEqual(await codesOf([{ host: "127.0.0.1", port }]), ["PORT_IN_USE"]);
  await new Promise((resolve) => taken.close(resolve));
  deepEqual(await codesOf([{ host: "127.0.0.1", port: await freePort() }]), []);
});

test("ports: an address that is not ours", async () => {
  deepEqual(await codesOf([{ host: "192.0.2.1", port: 0 }]), ["PORT_ADDRESS"]);
});

test("ports: two uses of one port clash, also where one of them is every address", async () => {
  const clashes = (
    await codesOf([
      { host: "", port: 45_731 },
      { host: "127.0.0.1", port: 45_731 },
    ])
  ).filter((code) => code === "PORT_CLASH");
  equal(clashes.length, 1);
});

test("ports: only what is switched on is wanted", () => {
  const uses = (settings: Parameters<typeof settingsWith>[0]) =>
    wantedPorts(settingsWith(settings)).map(({ what }) => what);
  deepEqual(uses({}), ["clients"]);
  deepEqual(uses({ healthEnabled: true, debugPort: 1, dashboardEnabled: true, prometheusMetricsEnabled: true }), [
    "clients",
    "probes",
    "metrics",
    "debug pages",
    "dashboard",
  ]);
});
