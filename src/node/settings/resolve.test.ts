import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { createFelixConfigurationProcessor } from "../../calico/convert/index.ts";
import { pathToKey } from "../../calico/model/basics.ts";
import { resolve, type Sources } from "./resolve.ts";
import { knownName, type SettingName, settingsTable } from "./table.ts";
import { isMissed, unsupported } from "./unsupported.ts";

const checks = { exists: () => true };

const ranks: { name: string; sources: Sources; setting: SettingName; value: unknown; from: string | undefined }[] = [
  { name: "nobody: the default", sources: {}, setting: "VXLANPort", value: undefined, from: undefined },
  {
    name: "the environment wins, in any case of its name",
    sources: { environment: { vxlanPORT: "1" }, file: { VXLANPort: "2" }, node: { VXLANPort: "3" } },
    setting: "VXLANPort",
    value: 1,
    from: "environment",
  },
  {
    name: "then the file",
    sources: { file: { VXLANPort: "2" }, node: { VXLANPort: "3" } },
    setting: "VXLANPort",
    value: 2,
    from: "file",
  },
  {
    name: "then the node's, before a selector's",
    sources: { node: { VXLANPort: "3" }, selector: { VXLANPort: "4" }, cluster: { VXLANPort: "5" } },
    setting: "VXLANPort",
    value: 3,
    from: "node",
  },
  {
    name: "then the selector's, before the cluster's",
    sources: { selector: { VXLANPort: "4" }, cluster: { VXLANPort: "5" } },
    setting: "VXLANPort",
    value: 4,
    from: "selector",
  },
  {
    name: "a bad value is the default, with its source's rank",
    sources: { environment: { VXLANPort: "many" }, cluster: { VXLANPort: "5" } },
    setting: "VXLANPort",
    value: 4789,
    from: "environment",
  },
  {
    name: "a number that the kernel cannot take is a bad value",
    sources: { cluster: { DeviceRouteProtocol: "-1" } },
    setting: "DeviceRouteProtocol",
    value: 3,
    from: "cluster",
  },
  {
    name: "none is the type's zero, not the default",
    sources: { cluster: { FailsafeInboundHostPorts: "NONE" } },
    setting: "FailsafeInboundHostPorts",
    value: [],
    from: "cluster",
  },
  {
    name: "none where it must be one of several",
    sources: { environment: { LogSeverityScreen: "none" } },
    setting: "LogSeverityScreen",
    value: "",
    from: "environment",
  },
  {
    name: "an empty text is as if it were not there, also where an empty list would be a value",
    sources: { environment: { FailsafeInboundHostPorts: "" }, cluster: { FailsafeInboundHostPorts: "22" } },
    setting: "FailsafeInboundHostPorts",
    value: [{ protocol: "tcp", port: 22 }],
    from: "cluster",
  },
  {
    name: "nothing but empty texts: the default",
    sources: { environment: { LogFilePath: "" }, file: { LogFilePath: "" }, cluster: { LogFilePath: "" } },
    setting: "LogFilePath",
    value: undefined,
    from: undefined,
  },
  {
    name: "ranges of tables with blanks between",
    sources: { file: { RouteTableRanges: "1-250 260-270" } },
    setting: "RouteTableRanges",
    value: [
      { first: 1, last: 250 },
      { first: 260, last: 270 },
    ],
    from: "file",
  },
  {
    name: "bits of a mark in octal, as Go reads them",
    sources: { cluster: { NftablesMarkMask: "0700" } },
    setting: "NftablesMarkMask",
    value: 0o700,
    from: "cluster",
  },
  {
    name: "an IPv4 address that is written as IPv6",
    sources: { cluster: { NATOutgoingAddress: "::ffff:10.0.0.1" } },
    setting: "NATOutgoingAddress",
    value: "10.0.0.1",
    from: "cluster",
  },
  {
    name: "what is local does not count from the datastore",
    sources: { cluster: { TyphaAddr: "a:1" } },
    setting: "TyphaAddr",
    value: undefined,
    from: undefined,
  },
  {
    name: "a Typha with an IPv6 address",
    sources: { environment: { TyphaAddr: "[fd00::1]:5473" } },
    setting: "TyphaAddr",
    value: "[fd00::1]:5473",
    from: "environment",
  },
  {
    name: "seconds become milliseconds",
    sources: { cluster: { RouteRefreshInterval: "1.5e+02" } },
    setting: "RouteRefreshInterval",
    value: 150_000,
    from: "cluster",
  },
  {
    name: "port ranges as the original writes a list",
    sources: { cluster: { KubeNodePortRanges: "[30000:32767 80]" } },
    setting: "KubeNodePortRanges",
    value: [
      { first: 30_000, last: 32_767 },
      { first: 80, last: 80 },
    ],
    from: "cluster",
  },
  {
    name: "failsafe ports with networks of both families",
    sources: { environment: { FailsafeOutboundHostPorts: "22,udp:10.0.0.0/8:53,tcp:[fd00::/8]:6443" } },
    setting: "FailsafeOutboundHostPorts",
    value: [
      { protocol: "tcp", port: 22 },
      { protocol: "udp", net: "10.0.0.0/8", port: 53 },
      { protocol: "tcp", net: "fd00::/8", port: 6443 },
    ],
    from: "environment",
  },
];
for (const { name, sources, setting, value, from } of ranks)
  test(`which value counts: ${name}`, () => {
    const found = resolve(sources, checks).settings.get(setting);
    deepEqual(found?.value, value);
    equal(found?.from, from);
  });

const stopping: { sources: Sources; says: RegExp }[] = [
  { sources: { environment: { InterfacePrefix: "a b" } }, says: /^InterfacePrefix is "a b"/ },
  { sources: { environment: { DefaultEndpointToHostAction: "LET" } }, says: /one of DROP, RETURN, ACCEPT/ },
  { sources: { file: { FailsafeInboundHostPorts: "sctp:1" } }, says: /"sctp:1" is not of that form/ },
  { sources: { file: { NftablesMarkMask: "3" } }, says: /fewer than three bits/ },
  { sources: { file: { NftablesMarkMask: "+3" } }, says: /no number of 32 bits/ },
  { sources: { environment: { MaxIpsetSize: "none" } }, says: /it must have a value/ },
  { sources: { environment: { TyphaAddr: "typha.example" } }, says: /must be host:port/ },
];
for (const { sources, says } of stopping)
  test(`a value that stops the start: ${JSON.stringify(sources)}`, () =>
    match(resolve(sources, checks).fatal[0]?.says ?? "", says));

const warned: { sources: Sources; says: RegExp | undefined }[] = [
  { sources: { environment: { VXLANPROT: "1" } }, says: /did you mean FELIX_VXLANPORT\?/ },
  { sources: { cluster: { IPAMAuditIntervall: "1" } }, says: /did you mean IPAMAuditInterval\?/ },
  {
    sources: { environment: { BPFENABLED: "true" } },
    says: /BPFEnabled is "true", and Cattail has not what it asks for/,
  },
  {
    sources: { cluster: { BPFEnabled: "false", BPFConnectTimeLoadBalancing: "TCP", FloatingIPs: "Disabled" } },
    says: undefined,
  },
  { sources: { cluster: { TyphaAddr: "a:1" } }, says: /counts only from the environment and the file/ },
];
for (const { sources, says } of warned)
  test(`what is told: ${JSON.stringify(sources)}`, () => {
    const [first] = resolve(sources, checks).warnings;
    if (says === undefined) equal(first, undefined);
    else match(first?.says ?? "", says);
  });

test("every setting that a FelixConfiguration can have is known, or known to be missing", () => {
  const { kvs } = createFelixConfigurationProcessor().delete({ namespace: "", name: "default" });
  const names = kvs.flatMap(({ path }) => {
    const key = pathToKey(path);
    return key?.is === "GlobalConfig" ? [key.name] : [];
  });
  deepEqual(
    names.filter((name) => knownName(name) === undefined && !unsupported.has(name.toLowerCase())),
    [],
  );
});

test("no setting is both in the table and known to be missing, and every default is shown as a text that reads into it", () => {
  for (const [name, { type, default: value }] of Object.entries(settingsTable)) {
    equal(unsupported.has(name.toLowerCase()), false, name);
    const text = (type.show as (value: unknown) => string)(value);
    if (text === "") continue;
    const parsed = type.parse(text, checks);
    deepEqual(parsed.ok ? parsed.value : parsed.why, value, name);
  }
});

test("what the original's client writes by itself is missed by nobody", () => {
  for (const [name, { default: text }] of unsupported) equal(isMissed(name, text), false, name);
});
