// Fields of the wrong type, as the original's plugin refused each of them.
import { deepEqual, doesNotThrow, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { checkTypes, withPlainNames } from "./netconf-types.ts";

const mesos = (info: string) => `"args":{"org.apache.mesos":{"network_info":${info}}}`;
const infoPath = "args.org.apache.mesos.network_info";
const label = 'struct { Key string "json:\\"key\\""; Value string "json:\\"value\\"" }';

const rows: readonly (readonly [field: string, says: string])[] = [
  ['"runtimeConfig":5', "number into Go struct field NetConf.RuntimeConfig of type types.RuntimeConfig"],
  ['"runtimeConfig":[]', "array into Go struct field NetConf.RuntimeConfig of type types.RuntimeConfig"],
  [
    '"runtimeConfig":{"dns":[]}',
    "array into Go struct field RuntimeConfig.RuntimeConfig.DNS of type types.RuntimeConfigDNS",
  ],
  [
    '"runtimeConfig":{"dns":{"servers":"x"}}',
    "string into Go struct field RuntimeConfigDNS.RuntimeConfig.DNS.servers of type []string",
  ],
  [
    '"runtimeConfig":{"dns":{"servers":[1]}}',
    "number into Go struct field RuntimeConfigDNS.RuntimeConfig.DNS.servers of type string",
  ],
  ['"args":"x"', "string into Go struct field NetConf.args of type types.Args"],
  ['"args":{"org.apache.mesos":[]}', "array into Go struct field Args.args.org.apache.mesos of type types.Mesos"],
  [mesos("5"), "number into Go struct field Mesos.args.org.apache.mesos.network_info of type types.NetworkInfo"],
  [
    mesos('{"labels":5}'),
    `number into Go struct field NetworkInfo.${infoPath}.labels of type struct { Labels []${label} "json:\\"labels,omitempty\\"" }`,
  ],
  [mesos('{"labels":{"labels":5}}'), `number into Go struct field .${infoPath}.labels.labels of type []${label}`],
  [mesos('{"labels":{"labels":[5]}}'), `number into Go struct field .${infoPath}.labels.labels of type ${label}`],
  [
    mesos('{"labels":{"labels":[{"key":1}]}}'),
    `number into Go struct field .${infoPath}.labels.labels.key of type string`,
  ],
  [
    '"ipam":5',
    'number into Go struct field NetConf.ipam of type struct { Name string; Type string "json:\\"type\\""; Subnet string "json:\\"subnet\\""; AssignIpv4 *string "json:\\"assign_ipv4\\""; AssignIpv6 *string "json:\\"assign_ipv6\\""; IPv4Pools []string "json:\\"ipv4_pools,omitempty\\""; IPv6Pools []string "json:\\"ipv6_pools,omitempty\\"" }',
  ],
  ['"ipam":{"type":5}', "number into Go struct field .ipam.type of type string"],
  ['"ipam":{"name":1}', "number into Go struct field .ipam.Name of type string"],
  ['"ipam":{"assign_ipv4":true}', "bool into Go struct field .ipam.assign_ipv4 of type string"],
  ['"ipam":{"ipv4_pools":"a"}', "string into Go struct field .ipam.ipv4_pools of type []string"],
  ['"policy":"k8s"', "string into Go struct field NetConf.policy of type types.Policy"],
  ['"policy":{"type":5}', "number into Go struct field Policy.policy.type of type string"],
  ['"kubernetes":[]', "array into Go struct field NetConf.kubernetes of type types.Kubernetes"],
  [
    '"feature_control":{"floating_ips":1}',
    "number into Go struct field FeatureControl.feature_control.floating_ips of type bool",
  ],
  ['"mtu":1.5', "number 1.5 into Go struct field NetConf.mtu of type int"],
  ['"MTU":"x"', "string into Go struct field NetConf.mtu of type int"],
  ['"mtu":null,"qps":"1","burst":"2"', "string into Go struct field NetConf.qps of type int"],
  ['"vxlan_vni":-1', "number -1 into Go struct field NetConf.vxlan_vni of type uint64"],
  ['"dataplane_options":5', "number into Go struct field NetConf.dataplane_options of type map[string]interface {}"],
  ['"readiness_gates":[1]', "number into Go struct field NetConf.readiness_gates of type string"],
  ['"windows_use_single_network":5', "number into Go struct field NetConf.windows_use_single_network of type bool"],
];
for (const [field, says] of rows)
  test(`refused: ${field}`, () =>
    throws(
      () => checkTypes(JSON.parse(`{"name":"a",${field}}`)),
      (error: Error) => {
        equal(error.message, `failed to load netconf: json: cannot unmarshal ${says}`);
        return true;
      },
    ));

for (const field of [
  '"prevResult":5',
  '"dns":5',
  '"runtimeConfig":null',
  '"args":{"other":1}',
  '"runtimeConfig":{"portMappings":[]}',
])
  test(`passed over: ${field}`, () => doesNotThrow(() => checkTypes(JSON.parse(`{"name":"a",${field}}`))));

test("names of fields may be written in capitals, and the last of several counts", () => {
  const given = {
    Name: "net",
    MTU: 1300,
    mtu: 1400,
    IPAM: { Type: "calico-ipam", subNet: "10.0.0.0/24" },
    ipam: { assign_IPv6: "true", ranges: [[{ Subnet: "x" }]] },
    POLICY: null,
    runtimeConfig: { ips: ["10.0.0.1"] },
    Other: 1,
    prevResult: { IPs: [] },
  };
  deepEqual(withPlainNames(given), {
    name: "net",
    mtu: 1400,
    ipam: { type: "calico-ipam", subnet: "10.0.0.0/24", assign_ipv6: "true", ranges: [[{ Subnet: "x" }]] },
    policy: null,
    runtimeConfig: { ips: ["10.0.0.1"] },
    Other: 1,
    prevResult: { IPs: [] },
  });
});
