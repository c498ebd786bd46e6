// IPPool: addresses for workloads, and how packets to them travel.

import { canonicalCidr, cidrToText, isMasked, mask, parseCidr } from "../../../base/lib/index.ts";
import {
  flag,
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
import { fields, filled, type Problem, printGo } from "../checks/check.ts";
import { net, selector as selectorTag } from "../checks/tags.ts";
import { cell, nameCell } from "../columns.ts";
import { followedResource, forSpec, type SpecObject, specChecks } from "../kind.ts";
import { type CelRule, celRules, isFilled, isOn, noGlobal } from "../parts/cel.ts";
import { conditionsStatus } from "../parts/conditions.ts";

const mode = () => text({ enum: ["Never", "Always", "CrossSubnet"] });
const isEncapsulated = (name: string) => `(${isFilled(name)} && self.${name} != 'Never')`;
const uses = (use: string) => `(has(self.allowedUses) && self.allowedUses.exists(u, u == '${use}'))`;
const isIpv4 = "cidr(self.cidr).ip().family() == 4";
const fixed = (what: string) =>
  celRules({
    rule: "self == oldSelf",
    message: `${what} cannot be changed; follow IP pool migration guide to avoid corruption.`,
  });
const linkLocal = (family: 4 | 6, range: string, start: string): CelRule => ({
  rule: `!cidr('${range}').containsIP(cidr(self.cidr).ip()) && !cidr(self.cidr).containsIP('${start}')`,
  message: `IPPool CIDR overlaps with IPv${family} link local range ${range}`,
});

export const ipPoolSpec = lazy(() =>
  struct(
    {
      cidr: required(kept(text({ format: "cidr", maxLength: 48, ...fixed("CIDR") }))),
      vxlanMode: mode(),
      ipipMode: mode(),
      natOutgoing: flag(),
      disabled: flag(),
      disableBGPExport: flag(),
      blockSize: integer(int64, { minimum: 0, maximum: 128, ...fixed("Block size") }),
      nodeSelector: text({ default: "all()", maxLength: 1024 }),
      namespaceSelector: text({ maxLength: 1024 }),
      allowedUses: list(text({ enum: ["Workload", "Tunnel", "LoadBalancer"] }), {
        maxItems: 10,
        "x-kubernetes-list-type": "set",
      }),
      assignmentMode: optional(text({ enum: ["Automatic", "Manual"], default: "Automatic" })),
    },
    celRules(
      {
        rule: `!${isEncapsulated("ipipMode")} || !${isEncapsulated("vxlanMode")}`,
        message: "ipipMode and vxlanMode cannot both be enabled",
        reason: "FieldValueForbidden",
      },
      {
        rule: `!${uses("LoadBalancer")} || (!${isEncapsulated("ipipMode")} && !${isEncapsulated("vxlanMode")})`,
        message: "LoadBalancer IP pool cannot have IPIP or VXLAN enabled",
        reason: "FieldValueForbidden",
      },
      {
        rule: `!${uses("LoadBalancer")} || (!${uses("Workload")} && !${uses("Tunnel")})`,
        message: "LoadBalancer cannot be combined with Workload or Tunnel allowed uses",
        reason: "FieldValueForbidden",
      },
      {
        rule: `${isIpv4} || !${isEncapsulated("ipipMode")}`,
        message: "IPIP is not supported on IPv6 pools",
        reason: "FieldValueForbidden",
      },
      {
        rule: `!${uses("LoadBalancer")} || !${isOn("disableBGPExport")}`,
        message: "LoadBalancer IP pools cannot disable BGP export",
        reason: "FieldValueForbidden",
      },
      {
        rule: `!${uses("LoadBalancer")} || self.nodeSelector == 'all()'`,
        message: "IP Pool with AllowedUse LoadBalancer must have nodeSelector set to all()",
      },
      {
        rule: `!${uses("Tunnel")} || !${isFilled("namespaceSelector")}`,
        message: "IP Pool with AllowedUse Tunnel cannot have namespaceSelector",
        reason: "FieldValueForbidden",
      },
      noGlobal("nodeSelector", "global() selector is not valid for IPPool nodeSelector"),
      noGlobal("namespaceSelector", "global() selector is not valid for IPPool namespaceSelector"),
      { rule: "cidr(self.cidr) == cidr(self.cidr).masked()", message: "IPPool CIDR must be strictly masked" },
      linkLocal(4, "169.254.0.0/16", "169.254.0.0"),
      linkLocal(6, "fe80::/10", "fe80::"),
      {
        rule: `!has(self.blockSize) || self.blockSize == 0 || (${isIpv4} ? self.blockSize >= 20 && self.blockSize <= 32 : self.blockSize >= 116 && self.blockSize <= 128)`,
        message: "blockSize must be between 20 and 32 for IPv4 pools, and between 116 and 128 for IPv6 pools",
      },
      {
        rule: `${isOn("disabled")} || cidr(self.cidr).prefixLength() <= (has(self.blockSize) && self.blockSize != 0 ? self.blockSize : (${isIpv4} ? 26 : 122))`,
        message:
          "IP pool size is too small for use with Calico IPAM. It must be equal to or greater than the block size.",
      },
    ),
  ),
);
export type IpPoolSpec = SchemaType<typeof ipPoolSpec>;

const isIpv6Text = (text: string) => text.includes(":");

function fill({ metadata, spec }: SpecObject<IpPoolSpec>): SpecObject<IpPoolSpec> {
  // An IPv4 network that is written as IPv6 becomes one of IPv4, and its blocks with it.
  const cidr = canonicalCidr(spec.cidr ?? "")?.text ?? spec.cidr ?? "";
  const isGiven = (value: string | undefined) => value !== undefined && value !== "";
  return {
    metadata,
    spec: {
      ...spec,
      cidr,
      nodeSelector: isGiven(spec.nodeSelector) ? spec.nodeSelector : "all()",
      blockSize: spec.blockSize || (isIpv6Text(cidr) ? 122 : 26),
      allowedUses: spec.allowedUses?.length ? spec.allowedUses : ["Workload", "Tunnel"],
      ipipMode: isGiven(spec.ipipMode) ? spec.ipipMode : "Never",
      vxlanMode: isGiven(spec.vxlanMode) ? spec.vxlanMode : "Never",
      assignmentMode: spec.assignmentMode ?? "Automatic", // "" is one that nobody knows
    },
  };
}

const isStrict = (text: string) => {
  const found = parseCidr(text);
  return found !== undefined && isMasked(found);
};
const knownUses = ["Workload", "Tunnel", "LoadBalancer"];

function* poolProblems({ cidr: text = "", allowedUses = [] }: IpPoolSpec): Generator<Problem> {
  const said = { field: "spec.cidr", name: "IPpool.CIDR", value: text };
  if (text === "") yield { ...said, rule: "must be given", reason: "IPPool CIDR must be specified" };
  else if (parseCidr(text) === undefined) {
    yield { ...said, rule: "must be a CIDR", reason: "IPPool CIDR must be a valid subnet" };
  } else if (!isStrict(text)) {
    yield { ...said, rule: "must not have host bits set", reason: "IP pool CIDR is not strictly masked" };
  }
  for (const [at, use] of allowedUses.entries()) {
    if (knownUses.includes(use)) continue;
    const rule = `must be one of ${knownUses.join(", ")}`;
    const value = printGo(allowedUses);
    yield { field: `spec.allowedUses[${at}]`, rule, name: "IPpool.AllowedUses", value, reason: `unknown use: ${use}` };
  }
}

/** What the original looks at before it writes: nothing else is said while one of these is wrong. */
function* beforeWrite({ spec }: SpecObject<IpPoolSpec>, previous: SpecObject<object> | undefined): Generator<Problem> {
  const text = spec.cidr ?? "";
  const network = parseCidr(text);
  const said = { field: "spec.cidr", name: "IPPool.Spec.CIDR" };
  if (previous !== undefined) {
    yield* fixedProblems(spec, previous.spec);
    return;
  }
  if (text === "") yield { ...said, rule: "must be given", reason: "IPPool CIDR must be specified" };
  else if (network === undefined) {
    yield { ...said, value: text, rule: "must be a CIDR", reason: "IPPool CIDR must be a valid subnet" };
  } else if (!isMasked(network)) {
    const value = cidrToText(mask(network));
    yield { ...said, value, rule: "must not have host bits set", reason: "IPPool CIDR is not strictly masked" };
  }
}

/** What a pool is made of stays as it is. */
function* fixedProblems(spec: IpPoolSpec, previous: IpPoolSpec): Generator<Problem> {
  const again = "must not change: make a new pool";
  const said = { field: "spec.cidr", name: "IPPool.Spec.CIDR", rule: again };
  if (spec.cidr !== previous.cidr) {
    yield { ...said, value: spec.cidr ?? "", reason: "IPPool CIDR cannot be modified" };
  }
  if (String(spec.blockSize ?? 0) !== String(previous.blockSize ?? 0)) {
    const value = String(spec.blockSize ?? 0);
    const reason = "IPPool BlockSize cannot be modified";
    yield { field: "spec.blockSize", name: "IPPool.Spec.BlockSize", rule: again, value, reason };
  }
  const wasForServices = previous.allowedUses?.includes("LoadBalancer") === true;
  if (wasForServices && !spec.allowedUses?.includes("LoadBalancer")) {
    const value = printGo(spec.allowedUses ?? []);
    // The original's own spelling.
    const reason = "IPPool allowed use cannot be changed from LoadBalacer to Workload or Tunnel";
    yield { field: "spec.allowedUses", name: "IPPool.Spec.AllowedUses", rule: again, value, reason };
  }
}

const cidr = cell("CIDR", "spec.cidr");
const selector = cell("SELECTOR", "spec.nodeSelector");

export const ipPool = followedResource("IPPool", {
  carries: "enforcement",
  names: ["ippool", "ippools", "ipp", "ipps", "pool", "pools"],
  columns: {
    ps: [nameCell, cidr, selector],
    wide: [
      nameCell,
      cidr,
      cell("NAT", "spec.natOutgoing", "false"),
      cell("IPIPMODE", "spec.ipipMode", "Never"),
      cell("VXLANMODE", "spec.vxlanMode", "Never"),
      cell("DISABLED", "spec.disabled", "false"),
      cell("DISABLEBGPEXPORT", "spec.disableBGPExport", "false"),
      selector,
      cell("ASSIGNMENTMODE", "spec.assignmentMode"),
    ],
  },
  rights: {
    node: ["list", "watch", "create"],
    cni: ["list"],
  },
  schema: { spec: ipPoolSpec, status: conditionsStatus },
  newGroup: {
    columns: [
      ["CIDR", ".spec.cidr", "string"],
      ["VXLAN", ".spec.vxlanMode", "string"],
      ["IPIP", ".spec.ipipMode", "string"],
      ["NAT", ".spec.natOutgoing", "boolean"],
      ["Allocatable", ".status.conditions[?(@.type=='Allocatable')].status", "string"],
      ["Age", ".metadata.creationTimestamp", "date"],
    ],
  },
  fill: forSpec(fill),
  fillsOnRead: true,
  checks: specChecks(() =>
    fields<IpPoolSpec>(
      { cidr: filled(net), nodeSelector: filled(selectorTag), namespaceSelector: filled(selectorTag) },
      poolProblems,
    ),
  ),
  beforeWrite: forSpec(beforeWrite),
  crossRules: [
    {
      before: ["create"],
      needs: ["IPPool"],
      rule: "IPPool.Spec.CIDR: IPPool(b) CIDR overlaps with IPPool(a) CIDR C, one for each pool, disabled ones included",
    },
    {
      before: ["create"],
      needs: ["IPAMBlock"],
      rule: "IPPool.Spec.BlockSize: IPPool blocksSize conflicts with existing allocations that use a different blockSize",
    },
  ],
});
