import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { goRaw } from "../../model/index.ts";
import type { ProcessorOutput } from "../processor/processor.ts";
import { createClusterInformationProcessor, createFelixConfigurationProcessor } from "./felix-settings.ts";

const id = (name: string) => ({ namespace: "", name });
const root = "/calico/v1/config/";

function settings({ kvs }: ProcessorOutput, prefix = root): { [name: string]: string } {
  const set = kvs.filter(({ path, value }) => value !== undefined && path.startsWith(prefix));
  return Object.fromEntries(set.map(({ path, value }) => [path.slice(prefix.length), value ?? ""]));
}

const fields: [string, unknown, string, string | undefined][] = [
  ["interfacePrefix", "cali,tap", "InterfacePrefix", "cali,tap"],
  ["interfacePrefix", "", "InterfacePrefix", undefined],
  ["healthHost", "", "HealthHost", ""],
  ["healthHost", "::1", "HealthHost", "::1"],
  ["ipv6Support", false, "Ipv6Support", "false"],
  ["ipipEnabled", true, "IpInIpEnabled", "true"],
  ["vxlanMTU", 0, "VxlanMTU", undefined],
  ["vxlanMTU", 0, "VXLANMTU", "0"],
  ["maxIpsetSize", 9223372036854775807n, "MaxIpsetSize", "9223372036854775807"],
  ["iptablesMarkMask", -9223372036854775808n, "IptablesMarkMask", "-9223372036854775808"],
  ["bpfMapSizePerCpuConntrack", 5, "BPFMapSizePerCPUConntrack", "5"],
  ["bpfConntrackMode", "Auto", "BPFConntrackCleanupMode", "Auto"],
  ["routeRefreshInterval", "90s", "RouteRefreshInterval", "90"],
  ["reportingInterval", "1.5s", "ReportingIntervalSecs", "1.5"],
  ["usageReportingInterval", "720h", "UsageReportingIntervalSecs", "2.592e+06"],
  ["netlinkTimeout", "1000000s", "NetlinkTimeoutSecs", "1e+06"],
  ["iptablesLockProbeInterval", "1500us", "IptablesLockProbeIntervalMillis", "1.5"],
  ["iptablesLockProbeInterval", "50ms", "IptablesLockProbeIntervalMillis", "50"],
  ["wireguardKeepAlive", "25s", "WireguardPersistentKeepAlive", "25"],
  ["externalNodesList", ["10.0.0.0/8", "1.1.1.1"], "ExternalNodesCIDRList", "10.0.0.0/8,1.1.1.1"],
  ["externalNodesList", [], "ExternalNodesCIDRList", ""],
  ["failsafeInboundHostPorts", [], "FailsafeInboundHostPorts", "none"],
  [
    "failsafeInboundHostPorts",
    [
      { protocol: "TCP", port: 22 },
      { protocol: "UDP", port: 53, net: "10.0.0.0/8" },
      { port: 1, protocol: "sctp", net: "fd00::/8" },
    ],
    "FailsafeInboundHostPorts",
    "tcp:22,udp:10.0.0.0/8:53,sctp:[fd00::/8]:1",
  ],
  ["kubeNodePortRanges", ["30000:32767", 80], "KubeNodePortRanges", "[30000:32767 80]"],
  ["kubeNodePortRanges", [], "KubeNodePortRanges", "[]"],
  ["natPortRange", "32768:65535", "NATPortRange", "32768:65535"],
  ["natPortRange", 99, "NATPortRange", "99"],
  ["routeTableRange", { min: 1, max: 250 }, "RouteTableRange", "1-250"],
  [
    "routeTableRanges",
    [
      { min: 1, max: 2 },
      { min: 9, max: 11 },
    ],
    "RouteTableRanges",
    "1-2,9-11",
  ],
  ["healthTimeoutOverrides", [{ name: "a", timeout: "90s" }], "HealthTimeoutOverrides", "a=1m30s"],
  ["healthTimeoutOverrides", [], "HealthTimeoutOverrides", undefined],
  [
    "bpfConntrackTimeouts",
    { icmpTimeout: "5s", creationGracePeriod: "Auto" },
    "BPFConntrackTimeouts",
    "CreationGracePeriod=Auto,ICMPTimeout=5s",
  ],
  ["bpfLogFilters", { eth1: "b", eth0: "a" }, "BPFLogFilters", "eth0=a,eth1=b,"],
  ["istioDSCPMark", "EF", "IstioDSCPMark", "EF"],
  ["istioDSCPMark", 23, "IstioDSCPMark", "23"],
  ["nftablesMode", "Auto", "NFTablesMode", "Auto"],
  ["awsSrcDstCheck", "Disable", "AWSSrcDstCheck", "Disable"],
];
for (const [field, value, name, expected] of fields) {
  test(`${field} ${goRaw.write(value)} is ${name}=${expected ?? "(not set)"}`, () => {
    const output = createFelixConfigurationProcessor().set(id("default"), "1", { spec: { [field]: value } });
    equal(settings(output)[name], expected);
  });
}

test("every field but nodeSelector is said, set or not, in the order of the table", () => {
  const { kvs } = createFelixConfigurationProcessor().set(id("default"), "1", { spec: { nodeSelector: "all()" } });
  equal(kvs[0]?.path, `${root}UseInternalDataplaneDriver`);
  equal(kvs.at(-1)?.path, `${root}BPFMaglevMaxServices`);
  equal(kvs.length, 187);
});

test("a node's settings go to its host", () => {
  const output = createFelixConfigurationProcessor().set(id("node.n-1"), "1", { spec: { logPrefix: "x" } });
  deepEqual(settings(output, "/calico/v1/host/n-1/config/"), { LogPrefix: "x" });
});

test("any other name passes through whole", () => {
  const object = { metadata: { name: "zone-a", resourceVersion: "5" }, spec: { logPrefix: "z" } };
  deepEqual(createFelixConfigurationProcessor().set(id("zone-a"), "5", object).kvs, [
    {
      path: "/calico/resources/v3/projectcalico.org/felixconfigurations/zone-a",
      value:
        '{"kind":"FelixConfiguration","apiVersion":"projectcalico.org/v3","metadata":{"name":"zone-a"},"spec":{"logPrefix":"z","bpfLogLevel":""}}',
      revision: "5",
      v3ResourceVersion: "5",
    },
  ]);
});

test("annotations override fields, add settings, and their removal is said", () => {
  const felix = createFelixConfigurationProcessor();
  const annotated = (annotations: { [name: string]: string }) =>
    felix.set(id("default"), "1", { metadata: { annotations }, spec: { logPrefix: "field" } });
  const first = annotated({ "config.projectcalico.org/LogPrefix": "override", "config.projectcalico.org/New": "1" });
  deepEqual(settings(first), { LogPrefix: "override", New: "1" });
  const second = annotated({ other: "x" });
  deepEqual(settings(second), { LogPrefix: "field" });
  equal(
    second.kvs.some(({ path, value }) => path === `${root}New` && value === undefined),
    true,
  );
  equal(
    felix.delete(id("default")).kvs.some(({ path }) => path === `${root}New`),
    true,
  );
});

test("a failsafe port with a bad net drops that setting alone", () => {
  const spec = { logPrefix: "x", failsafeInboundHostPorts: [{ protocol: "tcp", port: 1, net: "junk" }] };
  const output = createFelixConfigurationProcessor().set(id("default"), "1", { spec });
  deepEqual(settings(output), { LogPrefix: "x" });
  deepEqual(
    output.problems.map(({ field, effect }) => [field, effect]),
    [["spec.failsafeInboundHostPorts[0].net", "dropped"]],
  );
});

test("a field of the wrong type makes the object unreadable, and all its settings go", () => {
  const output = createFelixConfigurationProcessor().set(id("default"), "1", { spec: { logPrefix: 1 } });
  equal(output.problems[0]?.field, "spec.logPrefix");
  deepEqual(settings(output), {});
  equal(output.kvs.length > 100, true);
});

test("ClusterInformation becomes settings and the ready flag", () => {
  const info = createClusterInformationProcessor();
  const output = info.set(id("default"), "1", {
    spec: { clusterGUID: "g", clusterType: "typha,kdd", datastoreReady: false },
  });
  deepEqual(
    output.kvs.map(({ path, value }) => [path, value]),
    [
      [`${root}ClusterGUID`, "g"],
      [`${root}ClusterType`, "typha,kdd"],
      [`${root}CalicoVersion`, undefined],
      ["/calico/v1/Ready", "false"],
      [`${root}Variant`, undefined],
    ],
  );
  equal(info.delete(id("default")).kvs.length, 5);
});

test("a ClusterInformation of one node has no ready flag, neither when set nor when deleted", () => {
  const info = createClusterInformationProcessor();
  equal(info.set(id("node.a"), "1", { spec: { datastoreReady: true } }).kvs.length, 4);
  equal(info.delete(id("node.a")).kvs.length, 4);
});
