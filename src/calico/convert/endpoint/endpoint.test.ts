import { equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  always,
  type GoType,
  goList,
  goMap,
  goNumber,
  goPointer,
  goRaw,
  goString,
  goStruct,
  keyToPath,
  omitEmpty,
  type StringMap,
} from "../../model/index.ts";
import { type Endpoint, podEndpointPath, writeEndpoint, writeEndpointLabels } from "./endpoint.ts";

// The table that the hand-written writer must agree with.
type Table = { readonly [name: string]: unknown };
const strings = goList(goString);
const nat = goStruct<{ int_ip: string; ext_ip: string }>({ int_ip: always(goString), ext_ip: always(goString) });
const port = goStruct<{ name: string; protocol: unknown; port: number }>({
  name: always(goString),
  protocol: always(goRaw),
  port: always(goNumber as GoType<number>),
});
const table = goStruct<Table>({
  state: always(goString),
  name: always(goString),
  active_instance_id: always(goString),
  mac: always(goPointer(goString)),
  profile_ids: always(strings),
  ipv4_nets: always(strings),
  ipv6_nets: always(strings),
  ipv4_nat: omitEmpty(goList(nat)),
  ipv6_nat: omitEmpty(goList(nat)),
  labels: always(goMap(goString)),
  ipv4_gateway: omitEmpty(goPointer(goString)),
  ipv6_gateway: omitEmpty(goPointer(goString)),
  ports: omitEmpty(goList(port)),
  generate_name: omitEmpty(goString),
  allow_spoofed_source_ips: omitEmpty(strings),
  annotations: omitEmpty(goMap(goString)),
} as Parameters<typeof goStruct<Table>>[0]);

const text = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom("<&>", '"', "\u2028", "é", "😀", ""));
const address = fc.constantFrom("10.0.0.1", "fd00::1");
const net = fc.constantFrom("10.0.0.1/32", "fd00::1/128");
const nats = fc.array(fc.record({ internalIp: address, externalIp: address }), { maxLength: 2 });
const endpoints: fc.Arbitrary<Endpoint & { labelMap: StringMap }> = fc
  .record({
    name: text,
    mac: fc.option(fc.constant("ee:ee:ee:ee:ee:ee"), { nil: undefined }),
    profileIds: fc.array(text, { maxLength: 2 }),
    ipv4Nets: fc.array(net, { maxLength: 2 }),
    ipv6Nets: fc.array(net, { maxLength: 2 }),
    ipv4Nats: nats,
    ipv6Nats: nats,
    labelMap: fc.dictionary(text, text, { maxKeys: 5, noNullPrototype: true }),
    ipv4Gateway: fc.option(address, { nil: undefined }),
    ipv6Gateway: fc.option(address, { nil: undefined }),
    ports: fc.array(fc.record({ name: text, protocol: fc.oneof(text, fc.nat(255)), port: fc.nat(65535) }), {
      maxLength: 2,
    }),
    generateName: text,
    allowedSources: fc.array(net, { maxLength: 2 }),
    annotations: fc.constant(undefined),
    qosControls: fc.constant(undefined),
  })
  .map((endpoint) => ({ ...endpoint, labels: writeEndpointLabels(endpoint.labelMap, new Map()) }));

test("an endpoint is written as the go-json table writes it", () => {
  fc.assert(
    fc.property(endpoints, (endpoint) => {
      const natOf = ({ internalIp, externalIp }: { internalIp: string; externalIp: string }) => ({
        int_ip: internalIp,
        ext_ip: externalIp,
      });
      const orNull = (list: readonly string[]) => (list.length === 0 ? undefined : list);
      const expected = table.write({
        state: "active",
        name: endpoint.name,
        active_instance_id: "",
        mac: endpoint.mac,
        profile_ids: endpoint.profileIds,
        ipv4_nets: orNull(endpoint.ipv4Nets),
        ipv6_nets: orNull(endpoint.ipv6Nets),
        ipv4_nat: endpoint.ipv4Nats.map(natOf),
        ipv6_nat: endpoint.ipv6Nats.map(natOf),
        labels: Object.fromEntries(Object.entries(endpoint.labelMap).filter(([name]) => !/^pc(ns|sa)\./.test(name))),
        ipv4_gateway: endpoint.ipv4Gateway,
        ipv6_gateway: endpoint.ipv6Gateway,
        ports: endpoint.ports,
        generate_name: endpoint.generateName,
        allow_spoofed_source_ips: endpoint.allowedSources,
      });
      equal(writeEndpoint(endpoint), expected);
    }),
  );
});

test("the short way to a pod's path is the long one's", () => {
  const name = fc.constantFrom("web-0", "a%b", "a/b", "x.y");
  fc.assert(
    fc.property(name, name, name, (hostname, namespace, pod) => {
      const workloadId = `${namespace}/${pod}`;
      const key = { is: "WorkloadEndpoint", hostname, orchestratorId: "k8s", workloadId, endpointId: "eth0" } as const;
      equal(podEndpointPath(hostname, namespace, pod), keyToPath(key));
    }),
  );
});
