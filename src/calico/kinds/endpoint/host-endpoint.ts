// HostEndpoint: an interface of a node that policies apply to.
import {
  integer,
  kept,
  lazy,
  list,
  protocol,
  required,
  type SchemaType,
  struct,
  text,
  uint16,
} from "../../model/index.ts";
import { always, each, fields, filled } from "../checks/check.ts";
import { above, interfaceName, ip, name, portName } from "../checks/tags.ts";
import { cell, listCell, nameCell } from "../columns.ts";
import { followedResource, specChecks } from "../kind.ts";
import { celRules, isFilled } from "../parts/cel.ts";
import { protocol as protocolCheck, withoutPorts } from "../policy/rule-checks.ts";

const asSet = { "x-kubernetes-list-type": "set" };

export const hostEndpointSpec = lazy(() =>
  struct(
    {
      node: text({ maxLength: 253 }),
      interfaceName: text({ maxLength: 15 }),
      expectedIPs: list(text(), asSet),
      profiles: list(text(), asSet),
      ports: list(
        struct({
          name: required(kept(text())),
          protocol: required(kept(protocol)),
          port: required(kept(integer(uint16, { minimum: 1, maximum: 65535 }))),
        }),
        { "x-kubernetes-list-type": "atomic" },
      ),
    },
    celRules(
      {
        rule: `${isFilled("interfaceName")} || ${isFilled("expectedIPs")}`,
        message: "at least one of interfaceName or expectedIPs must be specified",
      },
      { rule: isFilled("node"), message: "node must be specified" },
    ),
  ),
);
export type HostEndpointSpec = SchemaType<typeof hostEndpointSpec>;

const nodeCell = cell("NODE", "spec.node");

type HostPort = NonNullable<HostEndpointSpec["ports"]>[number];

const checks = () =>
  fields<HostEndpointSpec>({
    node: filled(name),
    interfaceName: filled(interfaceName),
    expectedIPs: each(always("", ip)),
    profiles: each(always("", name)),
    ports: each(
      fields<HostPort>(
        {
          name: always("", portName),
          protocol: (value = 0, at) => protocolCheck(value, at),
          port: always<number | bigint>(0, ...above(0)),
        },
        ({ protocol: by }, { path }) => withoutPorts(by, { path, owner: "EndpointPort" }),
      ),
    ),
  });

export const hostEndpoint = followedResource("HostEndpoint", {
  carries: "enforcement",
  names: ["hostendpoint", "hostendpoints", "hep", "heps"],
  columns: {
    ps: [nameCell, nodeCell],
    wide: [
      nameCell,
      nodeCell,
      cell("INTERFACE", "spec.interfaceName"),
      listCell("IPS", "spec.expectedIPs"),
      listCell("PROFILES", "spec.profiles"),
    ],
  },
  schema: { spec: hostEndpointSpec },
  newGroup: {
    shortNames: ["hep", "heps"],
    columns: [
      ["Node", ".spec.node", "string"],
      ["Interface", ".spec.interfaceName", "string"],
    ],
  },
  checks: specChecks(checks),
});
