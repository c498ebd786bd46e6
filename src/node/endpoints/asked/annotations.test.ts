// What pods and namespaces ask for with annotations.
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import type { JsonRecord } from "../../../base/lib/index.ts";
import {
  type Annotations,
  addressingOf,
  askedMac,
  checkFloatingAddresses,
  floatingAddresses,
  withAskedPools,
} from "./annotations.ts";

const own = (given: Annotations): Annotations =>
  Object.fromEntries(Object.entries(given).map(([name, text]) => [`cni.projectcalico.org/${name}`, text]));
const calico = { ipam: { type: "calico-ipam" } };

const pools: {
  name: string;
  pod?: Annotations;
  namespace?: Annotations;
  configuration?: JsonRecord;
  ipam: JsonRecord;
}[] = [
  { name: "nothing is asked for", ipam: { type: "calico-ipam" } },
  { name: "the pod's pools", pod: { ipv4pools: '["a","b"]' }, ipam: { type: "calico-ipam", ipv4_pools: ["a", "b"] } },
  {
    name: "the namespace's pools",
    namespace: { ipv6pools: '["a"]' },
    ipam: { type: "calico-ipam", ipv6_pools: ["a"] },
  },
  { name: "null is no list of pools", pod: { ipv4pools: "null" }, ipam: { type: "calico-ipam", ipv4_pools: [] } },
  {
    name: "the pod's win over the namespace's",
    pod: { ipv4pools: '["a"]' },
    namespace: { ipv4pools: '["b"]' },
    ipam: { type: "calico-ipam", ipv4_pools: ["a"] },
  },
  {
    name: "families, whatever the configuration says",
    pod: { ipFamilies: '["IPv6"]' },
    configuration: { ipam: { type: "calico-ipam", assign_ipv4: "true" } },
    ipam: { type: "calico-ipam", assign_ipv4: "false", assign_ipv6: "true" },
  },
  {
    name: "another IPAM plugin is told nothing",
    pod: { ipv4pools: '["a"]' },
    configuration: { ipam: { type: "host-local" } },
    ipam: { type: "host-local" },
  },
];
for (const { name, pod = {}, namespace = {}, configuration = calico, ipam } of pools)
  test(`pools: ${name}`, () =>
    deepEqual(withAskedPools(configuration, { pod: own(pod), namespace: own(namespace) }).ipam, ipam));

const refusedPools: { text: string; of: string; says: string | RegExp }[] = [
  { of: "ipv4pools", text: "pool-1", says: "invalid character 'p' looking for beginning of value" },
  { of: "ipv4pools", text: "{}", says: "json: cannot unmarshal object into Go value of type []string" },
  { of: "ipv4pools", text: "[4]", says: "json: cannot unmarshal number into Go value of type string" },
  { of: "ipv6pools", text: "true", says: "json: cannot unmarshal bool into Go value of type []string" },
  { of: "ipFamilies", text: '["IPv5"]', says: 'error parsing ipFamilies: ["IPv5"]' },
];
for (const { text, of, says } of refusedPools)
  test(`${of} ${text} is refused`, () =>
    throws(() => withAskedPools(calico, { pod: own({ [of]: text }), namespace: {} }), { message: says }));

const off = { features: { ipAddrsNoIpam: false, floatingIps: false }, ipamType: "calico-ipam" };
const on = { ...off, features: { ipAddrsNoIpam: true, floatingIps: true } };
test("addresses come from IPAM, from IPAM by name, or from the annotation", () => {
  deepEqual(addressingOf({}, off), { from: "ipam" });
  const addresses = ["10.0.0.1", "fd00::1"];
  const text = JSON.stringify(addresses);
  deepEqual(addressingOf(own({ ipAddrs: text }), off), { from: "ipam by name", addresses });
  deepEqual(addressingOf(own({ ipAddrsNoIpam: text }), on), { from: "annotation", addresses });
  const others = JSON.stringify(["FD00:0::1", "::ffff:10.0.0.1"]);
  deepEqual(addressingOf(own({ ipAddrs: others }), off), {
    from: "ipam by name",
    addresses: ["fd00::1", "10.0.0.1"],
  });
});

const refusedAddresses: { name: string; given: Annotations; says: string | RegExp }[] = [
  {
    name: "two of one family",
    given: { ipAddrs: '["10.0.0.1","10.0.0.2"]' },
    says: 'cannot have more than one IPv4 address for "cni.projectcalico.org/ipAddrs" annotation',
  },
  {
    name: "an empty list",
    given: { ipAddrs: "[]" },
    says: 'annotation "cni.projectcalico.org/ipAddrs" specified but empty',
  },
  {
    name: "an address without a list",
    given: { ipAddrs: "10.0.0.1" },
    says: /failed to parse '10\.0\.0\.1' as JSON: invalid character '\.' after top-level value$/,
  },
  { name: "null in the list", given: { ipAddrs: "[null]" }, says: "invalid IP format: " },
  { name: "half an address", given: { ipAddrs: '["10.0.0"]' }, says: "invalid IP format: 10.0.0" },
  {
    name: "no list",
    given: { ipAddrs: "x" },
    says: /^failed to parse IPs x for annotation "cni.projectcalico.org\/ipAddrs": failed to parse 'x' as JSON: /,
  },
  {
    name: "what is not enabled",
    given: { ipAddrsNoIpam: '["10.0.0.1"]' },
    says: "requested feature is not enabled: ip_addrs_no_ipam",
  },
  {
    name: "both",
    given: { ipAddrs: '["10.0.0.1"]', ipAddrsNoIpam: '["10.0.0.1"]' },
    says: "can't have both annotations: 'ipAddrs' and 'ipAddrsNoIpam' in use at the same time",
  },
];
for (const { name, given, says } of refusedAddresses)
  test(`addresses: ${name} is refused`, () => throws(() => addressingOf(own(given), off), { message: says }));
for (const annotation of ["ipAddrs", "ipAddrsNoIpam"])
  test(`addresses: ${annotation} beside another IPAM plugin is refused`, () =>
    throws(() => addressingOf(own({ [annotation]: '["10.0.0.1"]' }), { ...on, ipamType: "host-local" }), {
      message: `${annotation} is not compatible with configured IPAM: host-local`,
    }));

test("a MAC is taken as it is meant, and refused where it is none", () => {
  equal(askedMac({}), undefined);
  equal(askedMac(own({ hwAddr: "0E:00:00:12:34:56" })), "0e:00:00:12:34:56");
  equal(askedMac(own({ hwAddr: "0e00.0012.3456" })), "0e:00:00:12:34:56");
  const annotation = "cni.projectcalico.org/hwAddr";
  throws(() => askedMac(own({ hwAddr: "" })), {
    message: `failed to parse MAC address  provided via ${annotation}: invalid MAC address`,
  });
  throws(() => askedMac(own({ hwAddr: "0e:00:00:12:34:56:78:9a" })), { message: /9a: invalid MAC address$/ });
  for (const hwAddr of ["01:00:5e:00:00:01", "00:00:00:00:00:00"])
    throws(() => askedMac(own({ hwAddr })), {
      message: `failed to set container-side interface MAC to ${hwAddr} as requested via ${annotation}: cannot assign requested address`,
    });
  throws(() => askedMac(own({ hwAddr: "zz" })), {
    message:
      "failed to parse MAC address zz provided via cni.projectcalico.org/hwAddr: address zz: invalid MAC address",
  });
});

test("floating addresses need the configuration's leave", () => {
  const asked = own({ floatingIPs: '["192.0.2.7"]' });
  throws(() => checkFloatingAddresses(asked, off), { message: "requested feature is not enabled: floating_ips" });
  checkFloatingAddresses(asked, on);
  checkFloatingAddresses({}, off);
  deepEqual([floatingAddresses(asked), floatingAddresses({})], [["192.0.2.7"], []]);
  throws(() => floatingAddresses(own({ floatingIPs: '["192.0.2.7","1.2.3"]' })), {
    message: "error with field ExternalIP = '1.2.3' (Reason: failed to validate Field: ExternalIP because of Tag: ip )",
  });
  throws(() => floatingAddresses(own({ floatingIPs: "x" })), { message: /^failed to parse 'x' as JSON: invalid char/ });
});
