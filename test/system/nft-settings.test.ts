// Whatever text a setting may have, the kernel takes the table that comes of it: one slip in one setting must not end policy on a node.
import { deepEqual } from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { resolve } from "../../src/node/settings/resolve.ts";
import type { SettingName } from "../../src/node/settings/table.ts";
import { freshNamespace } from "../kit/namespace.ts";
import { noPolicyLab } from "../kit/policy/needs.ts";
import { PartUnderTest } from "../kit/policy/part-under-test.ts";

const longest = "a".repeat(15);
/** Those that the table of settings refuses are passed over; where it is asked for it says so itself. */
const texts: { readonly [N in SettingName]?: readonly string[] } = {
  FailsafeInboundHostPorts: ["", "none", "0", "TCP:65535", "udp:10.0.0.1/8:53", "tcp:[fd00::1/8]:1", "tcp:[::/0]:22"],
  FailsafeOutboundHostPorts: ["none", "udp:[::1]:53", "tcp:0.0.0.0/0:80", "tcp:22, tcp:22"],
  VXLANPort: ["none", "1", "1024", "1025", "65535"],
  NATPortRange: ["none", "0:0", "0:65535", "1000", "32768:65535"],
  NATOutgoingAddress: ["none", "0.0.0.0", "10.0.0.1"],
  NATOutgoingExclusions: ["IPPoolsAndHostIPs"],
  IptablesNATOutgoingInterfaceFilter: ["none", "+", "eth+", "_a", "-", "a:b", longest, `${longest.slice(1)}+`],
  InterfacePrefix: ["cali,tap", "cali,cali", "_x", "-x", longest, longest.slice(1)],
  InterfaceExclude: ["none", "/.*/", "_x,-y", "/[/", longest],
  NftablesMarkMask: ["0x7", "0xffffffff", "0x80000003", "none"],
  NftablesFilterDenyAction: ["Reject", "none"],
  DefaultEndpointToHostAction: ["Return", "accept"],
  LogPrefix: ["none", "%t%k%n%p", "x".repeat(300), '";drop', "é\n\t$(x)", "%%n"],
  LogActionRateLimit: ["none", "1/hour", "9999/second"],
  LogActionRateLimitBurst: ["0", "9999"],
  DropSamplesPerSecond: ["1", "1000", "100000"],
  WorkloadSourceSpoofing: ["Any"],
  Ipv6Support: ["none", "false"],
  ExternalNodesCIDRList: ["none", "0.0.0.0/0,::/0", "10.0.0.1/8,fd00::/8,1.2.3.4"],
  EndpointStatusPathPrefix: ["none", ""],
};

const rules = (direction: string) => ({
  [direction]: [{ action: "log" }, { action: "deny", protocol: "tcp", dst_ports: [1] }, { action: "next-tier" }],
});
const policy = (more: object) =>
  JSON.stringify({
    tier: "default",
    selector: "all()",
    ...rules("inbound_rules"),
    ...rules("outbound_rules"),
    ...more,
  });
const endpoint = (more: object) => JSON.stringify({ state: "active", labels: { a: "1" }, profile_ids: ["p"], ...more });
const sources = ["0.0.0.0/0", "10.0.0.1/8", "fd00::/8"];
const values: { readonly [path: string]: string } = {
  "/calico/v1/host/here/workload/k8s/n%2fx/endpoint/eth0": endpoint({ name: "cali1", ipv4_nets: ["10.0.0.1/32"] }),
  "/calico/v1/host/here/workload/k8s/n%2fy/endpoint/eth0": endpoint({
    ...{ name: "cali2", ipv6_nets: ["fd00::1/128"], allow_spoofed_source_ips: sources },
  }),
  "/calico/v1/host/here/endpoint/h": endpoint({ name: "eth0" }),
  "/calico/v1/host/here/endpoint/others": endpoint({ name: "*" }),
  "/calico/v1/ipam/v4/pool/10.0.0.0-8": JSON.stringify({ cidr: "10.0.0.0/8", masquerade: true, vxlan_mode: "Always" }),
  "/calico/v1/ipam/v6/pool/fd00::-8": JSON.stringify({ cidr: "fd00::/8", masquerade: true, vxlan_mode: "Always" }),
  "/calico/v1/policy/GlobalNetworkPolicy//normal": policy({}),
  "/calico/v1/policy/GlobalNetworkPolicy//untracked": policy({ untracked: true, apply_on_forward: true }),
  "/calico/v1/policy/GlobalNetworkPolicy//before-nat": policy({ pre_dnat: true, apply_on_forward: true }),
};

test("the kernel takes every table that settings can lead to", { skip: noPolicyLab }, async () => {
  const part = new PartUnderTest({ node: "here", namespace: freshNamespace().path });
  part.sayAll(new Map(Object.entries(values)));
  part.start();
  try {
    await part.settled();
    for (const [name, list] of Object.entries(texts))
      for (const text of list)
        for (const action of ["Drop", "Reject"]) {
          const { settings } = resolve({ environment: { [name]: text } }, { exists: () => true });
          const read = settings.get(name as SettingName)?.text; // a key of the table above
          part.configure({ NftablesFilterDenyAction: action, ...(read === undefined ? {} : { [name]: read }) });
          const said = part.recorded.lines.length;
          await part.settled();
          const trouble = part.recorded.lines.slice(said).filter(({ level }) => level === "warn" || level === "error");
          deepEqual({ name, text, trouble, detail: part.detail }, { name, text, trouble: [], detail: "" });
        }
  } finally {
    await part.stop();
  }
});

test("without a folder for them no status files are written", { skip: noPolicyLab }, async () => {
  const part = new PartUnderTest({ node: "here", namespace: freshNamespace().path });
  part.start({ EndpointStatusPathPrefix: "none" });
  try {
    await part.settled();
    deepEqual(existsSync(join(process.cwd(), "none")), false);
  } finally {
    await part.stop();
  }
});
