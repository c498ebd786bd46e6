// The rule of a v3 policy or profile.
import {
  int64,
  integer,
  kept,
  lazy,
  list,
  map,
  optional,
  port,
  protocol,
  required,
  type SchemaType,
  struct,
  text,
  zeroable,
} from "../../model/index.ts";
import { type CelRule, celRules, isFilled, noGlobal } from "../parts/cel.ts";

const atomic = { "x-kubernetes-list-type": "atomic" };
const asSet = { "x-kubernetes-list-type": "set" };
const selector = () => text({ maxLength: 1024 });

const icmp = lazy(() =>
  struct(
    {
      type: optional(integer(int64, { minimum: 0, maximum: 254 })),
      code: optional(integer(int64, { minimum: 0, maximum: 255 })),
    },
    celRules({ rule: "!has(self.code) || has(self.type)", message: "ICMP code specified without an ICMP type" }),
  ),
);

const notWithServices = (called: string, ...names: string[]): CelRule => ({
  rule: `!has(self.services) || (${names.map((name) => `!${isFilled(name)}`).join(" && ")})`,
  message: `cannot specify ${called} and Services on the same rule`,
  reason: "FieldValueForbidden",
});

const entityRule = lazy(() =>
  struct(
    {
      nets: list(text(), { maxItems: 256, ...asSet }),
      selector: selector(),
      namespaceSelector: selector(),
      services: struct({ name: text({ maxLength: 253 }), namespace: text({ maxLength: 253 }) }),
      ports: list(port, { maxItems: 50, ...atomic }),
      notNets: list(text(), { maxItems: 256, ...asSet }),
      notSelector: selector(),
      notPorts: list(port, { maxItems: 50, ...atomic }),
      serviceAccounts: struct({ names: list(text(), asSet), selector: text() }),
    },
    celRules(
      noGlobal("selector"),
      notWithServices("NamespaceSelector", "namespaceSelector"),
      {
        rule: "!has(self.services) || !has(self.serviceAccounts)",
        message: "cannot specify ServiceAccounts and Services on the same rule",
        reason: "FieldValueForbidden",
      },
      {
        rule: "!has(self.services) || size(self.services.name) > 0",
        message: "services must specify a service name",
        reason: "FieldValueRequired",
      },
      notWithServices("Selector/NotSelector", "selector", "notSelector"),
      notWithServices("Nets/NotNets", "nets", "notNets"),
    ),
  ),
);
export type EntityRule = SchemaType<typeof entityRule>;

const httpPath = lazy(() => struct({ exact: text({ maxLength: 1024 }), prefix: text({ maxLength: 1024 }) }));

const is = (field: string, name: string, number: number) =>
  `(has(self.${field}) && (self.${field} == '${name}' || self.${field} == ${number}))`;
const icmpVersion = (field: string, name: string, number: number, version: number): CelRule => ({
  rule: `!${is(field, name, number)} || !has(self.ipVersion) || self.ipVersion == ${version}`,
  message: `protocol ${name} requires ipVersion ${version}`,
});

export const rule = lazy(() =>
  struct(
    {
      action: required(kept(text({ enum: ["Allow", "Deny", "Log", "Pass"] }))),
      ipVersion: optional(integer(int64, { enum: [4, 6] })),
      protocol: optional(protocol),
      icmp,
      notProtocol: optional(protocol),
      notICMP: icmp,
      source: zeroable(entityRule),
      destination: zeroable(entityRule),
      http: struct({
        methods: list(text(), { maxItems: 20, ...atomic }),
        paths: list(httpPath, { maxItems: 20, ...atomic }),
      }),
      metadata: struct({ annotations: map(text()) }),
    },
    celRules(
      {
        rule: `!has(self.http) || !has(self.protocol) || ${is("protocol", "TCP", 6)}`,
        message: "rules with HTTP match must have protocol TCP or unset",
      },
      {
        rule: "!has(self.http) || self.action == 'Allow'",
        message: "HTTP match is only valid on Allow rules",
        reason: "FieldValueForbidden",
      },
      {
        rule: "!has(self.destination) || !has(self.destination.services) || ((!has(self.destination.ports) || size(self.destination.ports) == 0) && (!has(self.destination.notPorts) || size(self.destination.notPorts) == 0))",
        message: "ports and notPorts cannot be specified with services",
        reason: "FieldValueForbidden",
      },
      {
        rule: `!has(self.icmp) || ${is("protocol", "ICMP", 1)} || ${is("protocol", "ICMPv6", 58)}`,
        message: "ICMP fields require protocol to be ICMP or ICMPv6",
      },
      icmpVersion("protocol", "ICMP", 1, 4),
      icmpVersion("protocol", "ICMPv6", 58, 6),
      icmpVersion("notProtocol", "ICMP", 1, 4),
      icmpVersion("notProtocol", "ICMPv6", 58, 6),
    ),
  ),
);
export type Rule = SchemaType<typeof rule>;

export const rules = lazy(() => list(rule, { maxItems: 1024, ...atomic }));
