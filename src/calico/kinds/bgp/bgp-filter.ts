// BGPFilter: which routes are imported and exported; passed through to clients.
import {
  asNumber,
  int32,
  int64,
  integer,
  kept,
  lazy,
  list,
  optional,
  required,
  type SchemaType,
  struct,
  text,
} from "../../model/index.ts";
import { always, type Check, each, fields, filled, given } from "../checks/check.ts";
import {
  bgpFilterInterface,
  netOf,
  oneOf,
  priority,
  requiredList,
  requiredPointer,
  required as requiredTag,
  within,
} from "../checks/tags.ts";
import { countCell, nameCell } from "../columns.ts";
import { followedResource, specChecks } from "../kind.ts";
import { celRules, isFilled } from "../parts/cel.ts";

const atomic = { "x-kubernetes-list-type": "atomic" };
const atomicMap = { "x-kubernetes-map-type": "atomic" };

// A standard community (two halves of 16 bits) or a large one (three parts of 32 bits).
const below = (limits: string[]) => `(${limits.join("|")})`;
const bits16 = below([
  "[0-9]",
  "[1-9][0-9]{1,3}",
  "[1-5][0-9]{4}",
  "6[0-4][0-9]{3}",
  "65[0-4][0-9]{2}",
  "655[0-2][0-9]",
  "6553[0-5]",
]);
const bits32 = below([
  "[0-9]",
  "[1-9][0-9]{1,8}",
  "[1-3][0-9]{9}",
  "4[0-1][0-9]{8}",
  "42[0-8][0-9]{7}",
  "429[0-3][0-9]{6}",
  "4294[0-8][0-9]{5}",
  "42949[0-5][0-9]{4}",
  "429496[0-6][0-9]{3}",
  "4294967[0-1][0-9]{2}",
  "42949672[0-8][0-9]",
  "429496729[0-5]",
]);
const community = () => text({ maxLength: 32, pattern: `^(${bits16}:${bits16}|${bits32}:${bits32}:${bits32})$` });
const priorityLimits = { minimum: 1, maximum: 2147483646 };

const operation = lazy(() =>
  struct(
    {
      addCommunity: struct({ value: required(kept(optional(community()))) }, atomicMap),
      prependASPath: struct(
        { prefix: required(kept(list(asNumber, { minItems: 1, maxItems: 10, ...atomic }))) },
        atomicMap,
      ),
      setPriority: struct({ value: required(kept(optional(integer(int64, priorityLimits)))) }, atomicMap),
    },
    { minProperties: 1, maxProperties: 1, ...atomicMap },
  ),
);

const length = (maximum: number) => optional(integer(int32, { format: "int32", minimum: 0, maximum }));

const rules = (family: { maxPrefix: number; maxCidrLength: number }) =>
  list(
    struct(
      {
        cidr: text({ format: "cidr", maxLength: family.maxCidrLength }),
        prefixLength: struct({ min: length(family.maxPrefix), max: length(family.maxPrefix) }, atomicMap),
        source: text({ enum: ["RemotePeers"] }),
        interface: text({ maxLength: 15 }),
        matchOperator: text({ enum: ["Equal", "NotEqual", "In", "NotIn"] }),
        peerType: text({ enum: ["eBGP", "iBGP"] }),
        communities: struct(
          { values: required(kept(list(community(), { minItems: 1, maxItems: 1, ...atomic }))) },
          atomicMap,
        ),
        asPathPrefix: list(asNumber, atomic),
        priority: optional(integer(int64, priorityLimits)),
        action: required(kept(text({ enum: ["Accept", "Reject"] }))),
        operations: list(operation, { minItems: 1, maxItems: 10, ...atomic }),
      },
      {
        ...atomicMap,
        ...celRules(
          {
            rule: `${isFilled("cidr")} == ${isFilled("matchOperator")}`,
            message: "cidr and matchOperator must both be set or both be empty",
          },
          {
            rule: `!has(self.prefixLength) || ${isFilled("cidr")}`,
            message: "cidr is required when prefixLength is set",
          },
          {
            rule: `!${isFilled("operations")} || self.action == 'Accept'`,
            message: "operations may only be used with action Accept",
          },
        ),
      },
    ),
    atomic,
  );

const ipv4 = { maxPrefix: 32, maxCidrLength: 18 };
const ipv6 = { maxPrefix: 128, maxCidrLength: 43 };

export const bgpFilterSpec = lazy(() =>
  struct({
    exportV4: rules(ipv4),
    importV4: rules(ipv4),
    exportV6: rules(ipv6),
    importV6: rules(ipv6),
  }),
);
export type BgpFilterSpec = SchemaType<typeof bgpFilterSpec>;

type FilterRule = NonNullable<BgpFilterSpec["exportV4"]>[number];
type Operation = NonNullable<FilterRule["operations"]>[number];

function ruleChecks(family: 4 | 6): Check<readonly FilterRule[]> {
  const bits = within(0, family === 4 ? 32 : 128).map((tag) => ({ ...tag, tag: `bgpFilterPrefixLengthV${family}` }));
  return each(
    fields<FilterRule>({
      cidr: filled(netOf(family)),
      prefixLength: fields<NonNullable<FilterRule["prefixLength"]>>({ min: given(...bits), max: given(...bits) }),
      source: filled(oneOf("RemotePeers")),
      interface: filled(bgpFilterInterface),
      peerType: filled(oneOf("eBGP", "iBGP")),
      communities: fields<NonNullable<FilterRule["communities"]>>({ values: requiredList }),
      priority: given(...priority),
      action: always("", requiredTag),
      operations: each(
        fields<Operation>({
          addCommunity: fields<NonNullable<Operation["addCommunity"]>>({ value: requiredPointer() }),
          prependASPath: fields<NonNullable<Operation["prependASPath"]>>({ prefix: requiredList }),
          setPriority: fields<NonNullable<Operation["setPriority"]>>({
            value: requiredPointer<number | bigint>(...priority),
          }),
        }),
      ),
    }),
  );
}

const checks = () =>
  fields<BgpFilterSpec>({
    exportV4: ruleChecks(4),
    importV4: ruleChecks(4),
    exportV6: ruleChecks(6),
    importV6: ruleChecks(6),
  });

export const bgpFilter = followedResource("BGPFilter", {
  carries: "enforcement",
  names: ["bgpfilter", "bgpfilters", "bgpf", "bgpfs", "bf", "bfs"],
  columns: {
    ps: [
      nameCell,
      countCell("NUMEXPORTV4", "spec.exportV4"),
      countCell("NUMIMPORTV4", "spec.importV4"),
      countCell("NUMEXPORTV6", "spec.exportV6"),
      countCell("NUMIMPORTV6", "spec.importV6"),
    ],
  },
  rights: { node: ["list", "watch"] },
  schema: { spec: bgpFilterSpec },
  checks: specChecks(checks),
});
