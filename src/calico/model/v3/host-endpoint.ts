// HostEndpoint: an interface of a node that policies apply to.
import { uint16 } from "../read-json.ts";
import { protocol } from "../scalars.ts";
import { integer, kept, list, required, type SchemaType, struct, text } from "../schema.ts";
import { celRules, isFilled } from "./cel.ts";

const asSet = { "x-kubernetes-list-type": "set" };

export const hostEndpointSpec = struct(
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
);
export type HostEndpointSpec = SchemaType<typeof hostEndpointSpec>;
