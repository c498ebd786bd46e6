// What is written, read by real BIRDs: everything that can be asked for at once, and objects whose texts would break out of the configuration if they
// could. BIRD 1.6 is asked where CATTAIL_TEST_BIRD16 is the folder of its programs (bird, bird6).
import { equal, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { computeBgp } from "../../src/node/bird/model/compute.ts";
import { BgpObjects } from "../../src/node/bird/model/objects.ts";
import { type ConfigurationFiles, renderBird } from "../../src/node/bird/render/render.ts";
import { noBird } from "../kit/bgp/daemon.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-bgp-render-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const older = process.env.CATTAIL_TEST_BIRD16 ?? "";
const noOlder =
  older !== "" && existsSync(join(older, "bird"))
    ? false
    : "needs BIRD 1.6: CATTAIL_TEST_BIRD16 is not the folder of its programs";

function parses(program: string, text: string): string {
  const file = join(folder, "bird.cfg");
  writeFileSync(file, text);
  try {
    execFileSync(program, ["-p", "-c", file], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    return "";
  } catch (error) {
    return String((error as { stderr?: string }).stderr);
  }
}

const root = "/calico/resources/v3/projectcalico.org";
type Objects = { readonly [path: string]: object };

const usual = {
  metadata: { labels: { rack: "a" } },
  spec: {
    bgp: {
      ipv4Address: "10.0.0.1/24",
      ipv6Address: "fd00::1/64",
      asNumber: 65001,
      routeReflectorClusterID: "244.0.0.1",
    },
    wireguard: { interfaceIPv4Address: "10.1.0.9", interfaceIPv6Address: "fd01::9" },
  },
};
const rules = (cidr: string) => [
  { cidr, matchOperator: "In", prefixLength: { min: 24, max: 30 }, action: "Reject" },
  { cidr, matchOperator: "NotEqual", source: "RemotePeers", peerType: "eBGP", action: "Reject" },
  { cidr, matchOperator: "NotIn", interface: "eth*", peerType: "iBGP", action: "Accept" },
  { communities: { values: ["65000:1"] }, asPathPrefix: [65000, 65001], priority: 512, action: "Reject" },
  {
    communities: { values: ["65000:1:2"] },
    action: "Accept",
    operations: [
      { addCommunity: { value: "1:2" } },
      { addCommunity: { value: "1:2:3" } },
      { prependASPath: { prefix: [1, 2] } },
      { setPriority: { value: 900 } },
    ],
  },
  { action: "Accept" },
];
const everything: Objects = {
  [`${root}/nodes/n1`]: usual,
  [`${root}/nodes/n2`]: {
    spec: { bgp: { ipv4Address: "10.0.0.2/24", ipv6Address: "fd00::2/64" }, wireguard: usual.spec.wireguard },
  },
  [`${root}/nodes/n3`]: {
    metadata: { labels: { rack: "b" } },
    spec: { bgp: { ipv4Address: "10.0.0.3/24", ipv6Address: "fd00::3/64" } },
  },
  [`${root}/bgpconfigurations/default`]: {
    spec: {
      logSeverityScreen: "Debug",
      bindMode: "NodeIP",
      listenPort: 1790,
      ignoredInterfaces: ["docker*", "eth1"],
      communities: [{ name: "c", value: "65000:7" }],
      prefixAdvertisements: [
        { cidr: "10.244.0.0/16", communities: ["c", "1:2:3"] },
        { cidr: "fd44::/48", communities: ["c"] },
      ],
      serviceClusterIPs: [{ cidr: "10.96.0.0/16" }, { cidr: "fd96::/112" }],
      serviceExternalIPs: [{ cidr: "192.0.2.0/24" }],
      serviceLoadBalancerIPs: [{ cidr: "198.51.100.0/24" }],
      programClusterRoutes: "Enabled",
      ipv4NormalRoutePriority: 2000,
      nodeMeshMaxRestartTime: "90s",
    },
  },
  [`${root}/bgpfilters/${"very-".repeat(12)}long`]: {
    spec: {
      importV4: rules("10.9.0.0/16"),
      exportV4: rules("10.9.0.0/16"),
      importV6: rules("fd09::/32"),
      exportV6: rules("fd09::/32"),
    },
  },
  [`${root}/bgppeers/all`]: {
    spec: {
      nodeSelector: "all()",
      peerSelector: "all()",
      filters: [`${"very-".repeat(12)}long`, "missing"],
      keepaliveTime: "20s",
      maxRestartTime: "1m",
      ttlSecurity: 2,
    },
  },
  [`${root}/bgppeers/tor4`]: {
    spec: {
      peerIP: "10.0.0.201:1799",
      asNumber: 65100,
      localASNumber: 65200,
      nextHopMode: "Self",
      numAllowedLocalASNumbers: 2,
      sourceAddress: "None",
      reachableBy: "10.0.0.254",
      password: { secretKeyRef: { name: "s", key: "k" } },
    },
  },
  [`${root}/bgppeers/tor6`]: {
    spec: { peerIP: "fd00::201", asNumber: 65100, keepOriginalNextHop: true, reachableBy: "fd00::254" },
  },
  [`${root}/bgppeers/pods`]: { spec: { localWorkloadSelector: "all()", asNumber: 65300 } },
  "/calico/v1/ipam/v4/pool/10.244.0.0-16": { cidr: "10.244.0.0/16", ipip_mode: "", vxlan_mode: "" },
  "/calico/v1/ipam/v4/pool/10.245.0.0-16": { cidr: "10.245.0.0/16", ipip_mode: "cross-subnet" },
  "/calico/v1/ipam/v4/pool/10.246.0.0-16": { cidr: "10.246.0.0/16", vxlan_mode: "always", disableBGPExport: true },
  "/calico/v1/ipam/v6/pool/fd44::-48": { cidr: "fd44::/48" },
  "/calico/ipam/v2/host/n1/ipv4/block/10.244.1.0-26": { state: "confirmed" },
  "/calico/ipam/v2/host/n1/ipv6/block/fd44::1:0-122": { state: "pendingDeletion" },
};

function render(given: Objects, generation: 1 | 2): ConfigurationFiles {
  const objects = new BgpObjects();
  for (const [path, value] of Object.entries(given)) objects.set(path, JSON.stringify(value));
  const { intent } = computeBgp({
    node: "n1",
    objects,
    services: [],
    slices: [],
    workloads: [{ peer: "pods", 4: "10.244.1.9", 6: "fd44::1:9" }],
    settings: {
      routerId: undefined,
      advertisedClusterIps: undefined,
      kubernetesNode: "n1",
      usesPodCidr: false,
      agentProtocol: 80,
      canTunnel: false,
    },
    secret: () => ({ is: "value", value: "it's {a}; # secret" }),
  });
  if (intent === undefined) throw new Error("there is nothing to write");
  return renderBird(intent, generation);
}

test("BIRD 2 reads everything at once", { skip: noBird }, () => {
  const text = render(everything, 2)["bird.cfg"] ?? "";
  for (const name of [
    "Node_10_0_0_2_port_1790",
    "Global_10_0_0_201_port_1799",
    "Global_fd00__201",
    "Local_Workload_10_244_1_9",
    "Local_Workload_fd44__1_9",
  ]) {
    ok(text.includes(`protocol bgp ${name} {`), name);
  }
  equal(parses("bird", text), "");
});

test("BIRD 1.6 reads everything at once", { skip: noOlder }, () => {
  const files = render(everything, 1);
  equal(parses(join(older, "bird"), files["bird.cfg"] ?? ""), "");
  equal(parses(join(older, "bird6"), files["bird6.cfg"] ?? ""), "");
});

/** Every text of an object, one after the other, is one that would end a string, a name or a line. */
function withText(value: unknown, at: { left: number }, text: string): unknown {
  if (typeof value === "string") {
    at.left -= 1;
    return at.left === -1 ? text : value;
  }
  if (Array.isArray(value)) return value.map((each) => withText(each, at, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withText(each, at, text)]));
}

const breaker = fc.constantFrom(
  'x"; hostile; "',
  "x'; hostile; '",
  "hostile\n",
  "10.0.0.9; hostile",
  "10.244.0.0/16 then { hostile; }",
  "1:2); hostile",
  "} hostile {",
  "/* hostile",
  "# hostile",
);

test("no text of an object gets into the configuration, and BIRD reads what is written", { skip: noBird }, () => {
  fc.assert(
    fc.property(fc.nat(120), breaker, (at, text) => {
      const broken = withText(everything, { left: at }, text) as Objects; // of an object comes an object
      const written = Object.values(withNode(broken)).join("\n");
      equal(written.includes("hostile"), false, `text ${at} as ${JSON.stringify(text)}`);
      equal(parses("bird", withNode(broken)["bird.cfg"] ?? ""), "", `text ${at} as ${JSON.stringify(text)}`);
    }),
    { numRuns: 60 },
  );
});

/** A node whose own address is broken has nothing to write: then there is nothing to look at. */
function withNode(given: Objects): ConfigurationFiles {
  try {
    return render(given, 2);
  } catch {
    return render(everything, 2);
  }
}
