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
import { cell, listCell, nameCell } from "../columns.ts";
import { followedResource } from "../kind.ts";
import { celRules, isFilled } from "../parts/cel.ts";

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
        message: "interfaceName or expectedIPs must be given",
      },
      { rule: isFilled("node"), message: "node must be given" },
    ),
  ),
);
export type HostEndpointSpec = SchemaType<typeof hostEndpointSpec>;

const nodeCell = cell("NODE", "spec.node");

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
});
