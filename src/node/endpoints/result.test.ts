// What a runtime is told in each version, and what IPAM plugins answer in each.
import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type PluggedIn, readIpamAnswer, resultOf } from "./result.ts";

const plugged: PluggedIn = {
  addresses: [
    { family: 4, address: "10.0.0.1" },
    { family: 6, address: "fd00::1" },
  ],
  routes: [{ dst: "10.0.0.1/26" }, { dst: "fd00::1/122" }],
  endpoint: "eth0",
  hostSide: "cali1",
  ifname: "eth0",
  mac: "0e:00:00:00:00:01",
  mtu: 1450,
  sandbox: "/ns",
};
const { routes } = plugged;
const inside = { name: "eth0", mac: "0e:00:00:00:00:01", sandbox: "/ns" };

test("0.2.0 has a member for each family", () =>
  deepEqual(resultOf("0.2.0", plugged), {
    cniVersion: "0.2.0",
    ip4: { ip: "10.0.0.1/32", routes: [{ dst: "10.0.0.1/26" }] },
    ip6: { ip: "fd00::1/128", routes: [{ dst: "fd00::1/122" }] },
    dns: {},
  }));
test("0.3.1 has interfaces, and says the version of each address", () =>
  deepEqual(resultOf("0.3.1", plugged), {
    cniVersion: "0.3.1",
    interfaces: [{ name: "cali1" }, inside],
    ips: [
      { version: "4", interface: 1, address: "10.0.0.1/32" },
      { version: "6", interface: 1, address: "fd00::1/128" },
    ],
    routes,
    dns: {},
  }));
test("1.0.0 has the MTU where somebody said one, and routes where there are some", () => {
  const ips = [
    { interface: 1, address: "10.0.0.1/32" },
    { interface: 1, address: "fd00::1/128" },
  ];
  const interfaces = [{ name: "cali1" }, { ...inside, mtu: 1450 }];
  deepEqual(resultOf("1.0.0", plugged), { cniVersion: "1.0.0", interfaces, ips, routes });
  deepEqual(resultOf("1.0.0", { ...plugged, mtu: 0, routes: [] }), {
    cniVersion: "1.0.0",
    interfaces: [{ name: "cali1" }, inside],
    ips,
  });
});

test("servers of names that the IPAM plugin knows are passed on, in every version", () => {
  const dns = { nameservers: ["10.0.0.53"], search: ["example.org"] };
  for (const version of ["0.1.0", "0.2.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"]) {
    const answer = { cniVersion: version, ips: [{ address: "10.0.0.1/24" }], dns };
    deepEqual(resultOf(version, { ...plugged, ...readIpamAnswer(answer) }).dns, dns);
  }
});

test("what is answered in any version is read again, but for the mask", () => {
  const version = fc.constantFrom("0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0");
  fc.assert(
    fc.property(version, fc.ipV4(), fc.ipV6(), (cniVersion, four, six) => {
      const addresses = [
        { family: 4, address: four },
        { family: 6, address: six },
      ] as const;
      const dst = [{ dst: `${four}/26` }, { dst: `${six}/122` }];
      const answer = resultOf(cniVersion, { ...plugged, addresses, routes: dst });
      deepEqual(readIpamAnswer(answer), { addresses, routes: dst, ...(cniVersion === "1.0.0" ? {} : { dns: {} }) });
    }),
  );
});

const ips = [{ address: "10.0.0.1/24" }];
const strangers = [{ ips, routes: [{ dst: "<nil>" }] }, { ips, routes: [{}] }, { ips: [{ address: "10.0.0.1" }] }];
for (const answer of [undefined, {}, { ips: [] }, { ips: [{ address: 7 }] }, [], ...strangers])
  test(`${JSON.stringify(answer)} is no answer`, () => throws(() => readIpamAnswer(answer), { name: "EndpointError" }));
