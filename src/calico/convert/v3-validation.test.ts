// What the validation filter makes of the kinds that clients get whole: the field that breaks a rule, or undefined.
import { equal } from "node:assert/strict";
import { test } from "node:test";
import {
  createBgpConfigurationProcessor,
  createBgpFilterProcessor,
  createBgpPeerProcessor,
  createCalicoNodeStatusProcessor,
  createFelixConfigurationProcessor,
  type Processor,
} from "./index.ts";

type Row = [spec: object, field: string | undefined];

const peers: Row[] = [
  [{}, undefined],
  [{ node: "n-1.example" }, undefined],
  [{ node: "N1" }, "node"],
  [{ nodeSelector: "a ==" }, "nodeSelector"],
  [{ peerSelector: "a" }, "peerSelector"],
  [{ localWorkloadSelector: "!" }, "localWorkloadSelector"],
  [{ peerIP: "10.0.0.1" }, undefined],
  [{ peerIP: "10.0.0.1:179" }, undefined],
  [{ peerIP: "[fd00::1]:179" }, undefined],
  [{ peerIP: "fd00::1" }, undefined],
  [{ peerIP: "10.0.0.1:0" }, "peerIP"],
  [{ peerIP: "10.0.0.1:65536" }, "peerIP"],
  [{ peerIP: "[10.0.0.1" }, "peerIP"],
  [{ peerIP: "10.0.0.1/32" }, "peerIP"],
  [{ peerIP: "host" }, "peerIP"],
  [{ reachableBy: "x" }, "reachableBy"],
  [{ peerIP: "10.0.0.1", reachableBy: "10.0.0.2" }, undefined],
  [{ peerIP: "10.0.0.1:179", reachableBy: "fd00::2" }, "reachableBy"],
  [{ filters: ["a", "B"] }, "filters[1]"],
];

const configurations: Row[] = [
  [{}, undefined],
  [{ serviceClusterIPs: [{ cidr: "10.0.0.0/8" }] }, undefined],
  [{ serviceClusterIPs: [{ cidr: "10.0.0.1/8" }] }, "serviceClusterIPs[0].cidr"],
  [{ serviceExternalIPs: [{ cidr: "10.0.0.1" }] }, undefined],
  [{ serviceLoadBalancerIPs: [{ cidr: "" }, { cidr: "x" }] }, "serviceLoadBalancerIPs[1].cidr"],
  [{ communities: [{ name: "a", value: "64512:1" }] }, undefined],
  [{ communities: [{ name: "a", value: "64512:1:2" }] }, undefined],
  [{ communities: [{ name: "A", value: "64512:1" }] }, "communities[0].name"],
  [{ communities: [{ value: "64512:1" }] }, "communities[0].name"],
  [{ communities: [{ name: "a" }] }, "communities[0].value"],
  [{ communities: [{ name: "a", value: "65536:1" }] }, "communities[0].value"],
  [{ communities: [{ name: "a", value: "4294967296:1:1" }] }, "communities[0].value"],
  [{ prefixAdvertisements: [{ cidr: "10.0.0.0/8", communities: ["1:1"] }] }, undefined],
  [{ prefixAdvertisements: [{ cidr: "10.0.0.0/8" }] }, "prefixAdvertisements[0].communities"],
  [{ prefixAdvertisements: [{ cidr: "10.0.0.0/8", communities: [] }] }, undefined],
  [{ prefixAdvertisements: [{ communities: ["1:1"] }] }, "prefixAdvertisements[0].cidr"],
  [{ prefixAdvertisements: [{ cidr: "10.0.0.1/8", communities: ["1:1"] }] }, "prefixAdvertisements[0].cidr"],
  [{ prefixAdvertisements: [{ cidr: "10.0.0.0/8", communities: ["who"] }] }, "prefixAdvertisements[0].communities[0]"],
  [
    {
      communities: [{ name: "who", value: "1:1" }],
      prefixAdvertisements: [{ cidr: "10.0.0.0/8", communities: ["who"] }],
    },
    undefined,
  ],
  [{ ignoredInterfaces: ["eth*"] }, undefined],
  [{ ignoredInterfaces: ["*"] }, "ignoredInterfaces[0]"],
  [{ ignoredInterfaces: ["sixteen-letters-"] }, "ignoredInterfaces[0]"],
  [{ localWorkloadPeeringIPV4: "fd00::1" }, "localWorkloadPeeringIPV4"],
  [{ localWorkloadPeeringIPV6: "10.0.0.1" }, "localWorkloadPeeringIPV6"],
  [{ localWorkloadPeeringIPV4: "10.0.0.1", localWorkloadPeeringIPV6: "fd00::1" }, undefined],
  [{ ipv4NormalRoutePriority: 0 }, "ipv4NormalRoutePriority"],
  [{ ipv6NormalRoutePriority: 2147483646 }, undefined],
  [{ ipv6NormalRoutePriority: 2147483647 }, "ipv6NormalRoutePriority"],
];

const filters: Row[] = [
  [{}, undefined],
  ...([
    [{}, undefined],
    [{ cidr: "10.0.0.0/8" }, undefined],
    [{ cidr: "10.0.0.1/8" }, "cidr"],
    [{ cidr: "fd00::/8" }, "cidr"],
    [{ prefixLength: { min: 0, max: 32 } }, undefined],
    [{ prefixLength: { min: -1 } }, "prefixLength.min"],
    [{ prefixLength: { max: 33 } }, "prefixLength.max"],
    [{ source: "RemotePeers" }, undefined],
    [{ source: "Others" }, "source"],
    [{ interface: "*" }, undefined],
    [{ interface: "a b" }, "interface"],
    [{ peerType: "eBGP" }, undefined],
    [{ peerType: "both" }, "peerType"],
    [{ communities: {} }, "communities.values"],
    [{ communities: { values: [] } }, undefined],
    [{ priority: 0 }, "priority"],
    [{ action: "" }, "action"],
    [{ operations: [{}] }, undefined],
    [{ operations: [{ addCommunity: {} }] }, "operations[0].addCommunity.value"],
    [{ operations: [{ addCommunity: { value: "1:1" } }] }, undefined],
    [{ operations: [{}, { prependASPath: {} }] }, "operations[1].prependASPath.prefix"],
    [{ operations: [{ setPriority: {} }] }, "operations[0].setPriority.value"],
    [{ operations: [{ setPriority: { value: 0 } }] }, "operations[0].setPriority.value"],
  ].map(([rule, field]) => [
    { importV4: [{ action: "Accept", ...(rule as object) }] }, // the table above has an object first
    field === undefined ? undefined : `importV4[0].${field}`,
  ]) as Row[]),
  [{ exportV6: [{ action: "Accept", cidr: "10.0.0.0/8" }] }, "exportV6[0].cidr"],
  [{ exportV6: [{ action: "Accept", cidr: "fd00::/8", prefixLength: { max: 128 } }] }, undefined],
];

const nodeStatuses: Row[] = [
  [{ node: "n", classes: ["BGP"], updatePeriodSeconds: 10 }, undefined],
  [{ node: "n", classes: ["Anything"], updatePeriodSeconds: 0 }, undefined],
  [{ classes: [], updatePeriodSeconds: 10 }, "node"],
  [{ node: "N", classes: [], updatePeriodSeconds: 10 }, "node"],
  [{ node: "n", updatePeriodSeconds: 10 }, "classes"],
  [{ node: "n", classes: ["BGP", "BGP"], updatePeriodSeconds: 10 }, "classes"],
  [{ node: "n", classes: [] }, "updatePeriodSeconds"],
  [{ node: "n", classes: [], updatePeriodSeconds: 86401 }, "updatePeriodSeconds"],
];

const felix: Row[] = [
  [{}, undefined],
  [{ nodeSelector: "not a selector" }, undefined],
  [{ featureDetectOverride: "A=true,B=false," }, undefined],
  [{ featureGates: "A" }, "featureGates"],
  [{ bpfDataIfacePattern: "^(eth|en).*" }, undefined],
  [{ bpfDataIfacePattern: "(" }, "bpfDataIfacePattern"],
  [{ mtuIfacePattern: "(?=x)" }, "mtuIfacePattern"],
  [{ logDebugFilenameRegex: "(?i)a(?P<name>b)" }, undefined],
  [{ prometheusMetricsHost: "a b" }, "prometheusMetricsHost"],
  [{ bpfJITHardening: "" }, "bpfJITHardening"],
  [{ bpfConntrackLogLevel: "" }, undefined],
  [{ bpfConntrackLogLevel: "Info" }, "bpfConntrackLogLevel"],
  [{ serviceLoopPrevention: "drop" }, "serviceLoopPrevention"],
  [{ wireguardListeningPort: 0 }, "wireguardListeningPort"],
  [{ wireguardRoutingRulePriority: 32766 }, "wireguardRoutingRulePriority"],
  [{ goGCThreshold: -1 }, undefined],
  [{ goGCThreshold: -2 }, "goGCThreshold"],
  [{ wireguardInterfaceName: "wg 0" }, "wireguardInterfaceName"],
  [{ iptablesNATOutgoingInterfaceFilter: "docker+" }, undefined],
  [{ bpfLogFilters: { "a b": "x" } }, "bpfLogFilters"],
  [{ bpfDSROptoutCIDRs: ["10.0.0.1/8", ""] }, undefined],
  [{ bpfExcludeCIDRsFromNAT: ["x"] }, "bpfExcludeCIDRsFromNAT"],
  [{ kubeNodePortRanges: ["http"] }, "kubeNodePortRanges"],
  [{ kubeNodePortRanges: [1, 2, 3, 4, 5, 6, 7, 8] }, "kubeNodePortRanges"],
  [{ kubeNodePortRanges: [0] }, "kubeNodePortRanges[0]"],
  [{ externalNodesList: ["fd00::/8"] }, "externalNodesList"],
  [{ openstackRegion: "Region" }, "openstackRegion"],
  [{ openstackRegion: "a".repeat(47) }, "openstackRegion"],
  [{ natOutgoingAddress: "10.0.0" }, "natOutgoingAddress"],
  [{ natPortRange: 0 }, "natPortRange"],
  [{ natPortRange: "http" }, undefined],
  [{ bpfPSNATPorts: "http-" }, "bpfPSNATPorts"],
  [{ mtuIfacePattern: "a{1001}" }, "mtuIfacePattern"],
  [{ mtuIfacePattern: "[^]" }, "mtuIfacePattern"],
  [{ mtuIfacePattern: "[]a]" }, undefined],
  [{ routeTableRange: {} }, "routeTableRange"],
  [{ routeTableRange: { min: 0, max: 9 } }, "routeTableRange"],
  [{ routeTableRange: { min: 1, max: 251 } }, "routeTableRange"],
  [{ routeTableRanges: [{ min: 5, max: 4 }] }, "routeTableRanges[0]"],
  [{ routeTableRanges: [{ min: 1, max: 65536 }] }, "routeTableRanges"],
  [{ healthTimeoutOverrides: [{ name: "a/b", timeout: "1s" }] }, "healthTimeoutOverrides[0].name"],
  [{ healthTimeoutOverrides: [{ name: "a", timeout: "-1s" }] }, "healthTimeoutOverrides[0].timeout"],
];

const kinds: [string, () => Processor, Row[]][] = [
  ["BGPPeer", createBgpPeerProcessor, peers],
  ["BGPConfiguration", createBgpConfigurationProcessor, configurations],
  ["BGPFilter", createBgpFilterProcessor, filters],
  ["CalicoNodeStatus", createCalicoNodeStatusProcessor, nodeStatuses],
  ["FelixConfiguration", createFelixConfigurationProcessor, felix],
];
for (const [kind, create, rows] of kinds) {
  for (const [spec, field] of rows) {
    test(`${kind} ${JSON.stringify(spec)} ${field === undefined ? "is good" : `fails at ${field}`}`, () => {
      const { kvs, problems } = create().set({ namespace: "", name: "x" }, "7", { metadata: { name: "x" }, spec });
      equal(problems[0]?.field, field === undefined ? undefined : `spec.${field}`);
      equal(kvs[0]?.value === undefined, field !== undefined);
      equal(kvs[0]?.revision, "7");
    });
  }
}

const faulty: [string, (options: { passesFaulty: boolean }) => Processor, object][] = [
  ["BGPPeer", createBgpPeerProcessor, { nodeSelector: "!!", peerIP: "10.0.0.1" }],
  [
    "BGPConfiguration",
    createBgpConfigurationProcessor,
    { prefixAdvertisements: [{ cidr: "10.0.0.0/8", communities: ["gone"] }] },
  ],
  ["BGPFilter", createBgpFilterProcessor, { exportV4: [{ cidr: "10.0.0.1/8", action: "Accept" }] }],
];
for (const [kind, create, spec] of faulty) {
  test(`a faulty ${kind} is left out, or passed on where its reader asks for that; what cannot be read never is`, () => {
    const passed = (passesFaulty: boolean, given: object) =>
      create({ passesFaulty }).set({ namespace: "", name: "x" }, "7", { metadata: { name: "x" }, spec: given }).kvs[0]
        ?.value;
    equal(passed(false, spec), undefined);
    equal(typeof passed(true, spec), "string");
    equal(passed(true, { ...spec, ...{ nodeSelector: 7, asNumber: {}, exportV4: "x" } }), undefined);
  });
}

const metadata: [object, string | undefined][] = [
  [{ name: "x.y-z" }, undefined],
  [{ name: "X" }, "metadata.name"],
  [{ name: `a${"b".repeat(253)}` }, "metadata.name"],
  [{ name: "x", labels: { "a/b": "c", d: "" } }, undefined],
  [{ name: "x", labels: { "-a": "b" } }, 'metadata.labels["-a"]'],
  [{ name: "x", labels: { a: "b c" } }, 'metadata.labels["a"]'],
  [{ name: "x", labels: { a: "b".repeat(64) } }, 'metadata.labels["a"]'],
  [{ name: "x", annotations: { "Upper/Case": "anything at all" } }, undefined],
  [{ name: "x", annotations: { "a b": "" } }, 'metadata.annotations["a b"]'],
  [{ name: "x", annotations: { a: "b".repeat(262_144) } }, "metadata.annotations"],
];
for (const [meta, field] of metadata) {
  test(`metadata ${JSON.stringify(meta).slice(0, 60)} ${field === undefined ? "is good" : `fails at ${field}`}`, () => {
    const { problems } = createBgpPeerProcessor().set({ namespace: "", name: "x" }, "7", { metadata: meta, spec: {} });
    equal(problems[0]?.field, field);
  });
}
