import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { recordLog } from "../../../test/kit/recorded-log.ts";
import { DatastoreSource } from "./datastore-source.ts";
import { NodeLiveSettings } from "./live-settings.ts";
import { fromEnvironment } from "./local-sources.ts";
import type { Source } from "./resolve.ts";
import { felixSettings } from "./typed.ts";

function settings(environment: Source = {}, file: Source = {}) {
  const { log, lines } = recordLog();
  const live = new NodeLiveSettings({ environment, file }, { checks: { exists: () => true }, log });
  return { live, typed: felixSettings(live), log, lines };
}

test("FELIX_* is read in any case; what Kubernetes sets for a service of that name is none", () => {
  const found = fromEnvironment({
    FELIX_VXLANPORT: "1",
    felix_IPv6Support: "no",
    FELIX_SERVICE_HOST: "10.0.0.1",
    PATH: "/bin",
  });
  deepEqual(found, { VXLANPORT: "1", IPv6Support: "no" });
});

test("a change in the datastore is told with the names whose value changed, and not where the environment has said it", () => {
  const { live, typed } = settings({ VXLANPORT: "1" });
  const told: (readonly string[])[] = [];
  const some: (readonly string[])[] = [];
  live.onChange((names) => void told.push(names));
  using _ = typed.onChange(["LogPrefix", "VXLANPort"], (names) => void some.push(names));
  live.setDatastore({ cluster: { VXLANPort: "2", RouteRefreshInterval: "5", LogPrefix: "a" } });
  live.setDatastore({ cluster: { VXLANPort: "3", RouteRefreshInterval: "5", LogPrefix: "a" } });
  live.setDatastore({ cluster: { LogPrefix: "a" }, node: { RouteRefreshInterval: "7" } });
  deepEqual(told, [["RouteRefreshInterval", "LogPrefix"], ["RouteRefreshInterval"]]);
  deepEqual(some, [["LogPrefix"]]);
  deepEqual(
    [typed.value("VXLANPort"), typed.value("RouteRefreshInterval"), typed.value("MTUIfacePattern")?.test("eth0")],
    [1, 7000, true],
  );
  equal(live.sourceOf("RouteRefreshInterval"), "node");
  live.setDatastore({});
  deepEqual([typed.value("RouteRefreshInterval"), live.raw("routerefreshinterval")], [90_000, undefined]);
});

test("a bad value without a safe default stops the start; from the datastore it leaves what was in force, until it is mended", () => {
  throws(() => settings({ INTERFACEPREFIX: "a b" }), { code: "SETTINGS_INVALID", problem: /InterfacePrefix is "a b"/ });
  const { live, typed } = settings();
  live.setDatastore({ cluster: { InterfacePrefix: "tap" } });
  live.setDatastore({ cluster: { InterfacePrefix: "a b" } });
  deepEqual(typed.value("InterfacePrefix"), ["tap"]);
  match(live.problems[0] ?? "", /InterfacePrefix is "a b".*the value before it stays/);
  live.setDatastore({ cluster: { InterfacePrefix: "cali,tap" } });
  deepEqual([typed.value("InterfacePrefix"), live.problems], [["cali", "tap"], []]);
});

test("what is odd is told once", () => {
  const { live, lines } = settings({ VXLANPROT: "1" });
  for (const port of ["1", "2"]) live.setDatastore({ cluster: { VXLANPort: port } });
  equal(lines.filter(({ level }) => level === "warn").length, 1);
});

const path = (kind: string, name: string) => `/calico/resources/v3/projectcalico.org/${kind}/${name}`;
const config = (name: string, created: string, selector: string, spec: object) =>
  [
    path("felixconfigurations", name),
    JSON.stringify({ metadata: { name, creationTimestamp: created }, spec: { nodeSelector: selector, ...spec } }),
  ] as const;

test("the datastore's settings: of the cluster, of this node, and of the oldest configuration that selects it", async () => {
  const { live, typed, log } = settings();
  const source = new DatastoreSource({ node: "n1", log, apply: (sources) => live.setDatastore(sources) });
  source.set("/calico/v1/config/LogPrefix", "cluster");
  source.set("/calico/v1/config/VXLANPort", "1");
  source.set("/calico/v1/host/n1/config/IpInIpTunnelAddr", "10.0.0.1");
  source.set("/calico/v1/host/n2/config/VXLANPort", "2");
  source.settled({ inSync: false });
  equal(typed.value("LogPrefix"), "calico-packet");
  source.settled({ inSync: true });
  deepEqual(
    [typed.value("LogPrefix"), typed.value("VXLANPort"), typed.value("IpInIpTunnelAddr")],
    ["cluster", 1, "10.0.0.1"],
  );

  source.set(...config("b", "2020-01-02T00:00:00Z", "zone == 'x'", { vxlanPort: 5 }));
  source.set(...config("a", "2020-01-01T00:00:00Z", "zone == 'x'", { vxlanPort: 4, logPrefix: "zone" }));
  source.set(...config("c", "2019-01-01T00:00:00Z", "zone == 'y'", { vxlanPort: 6 }));
  source.set(path("nodes", "n1"), JSON.stringify({ metadata: { name: "n1", labels: { zone: "x" } } }));
  source.settled({ inSync: true });
  while (typed.value("VXLANPort") === 1) await turn();
  deepEqual([typed.value("VXLANPort"), typed.value("LogPrefix")], [4, "zone"]);
  equal(live.sourceOf("VXLANPort"), "selector");

  source.set(path("nodes", "n1"), JSON.stringify({ metadata: { name: "n1", labels: { zone: "y" } } }));
  source.settled({ inSync: true });
  while (typed.value("VXLANPort") === 4) await turn();
  deepEqual([typed.value("VXLANPort"), typed.value("LogPrefix")], [6, "cluster"]);

  source.delete(path("felixconfigurations", "c"));
  source.delete("/calico/v1/config/LogPrefix");
  source.settled({ inSync: true });
  while (typed.value("VXLANPort") === 6) await turn();
  deepEqual([typed.value("VXLANPort"), typed.value("LogPrefix")], [1, "calico-packet"]);
  ok(live.problems.length === 0);
});
