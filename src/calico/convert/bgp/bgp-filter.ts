// BGPFilter, passed through.
import { type BgpFilterSpec, bgpFilterSpec } from "../../kinds/index.ts";
import {
  type Check,
  filled,
  firstProblem,
  given,
  interfacePatternRule,
  isInterfacePattern,
  isPriority,
  isStrictNetwork,
  priorityRule,
} from "../object/checks.ts";
import type { Processor } from "../processor/processor.ts";
import { createPassThroughProcessor } from "../processor/whole-object.ts";

export function createBgpFilterProcessor(): Processor {
  return createPassThroughProcessor({
    kind: "BGPFilter",
    schema: bgpFilterSpec,
    problem: ({ spec }) => firstProblem(checks(spec)),
  });
}

type FilterRule = NonNullable<BgpFilterSpec["exportV4"]>[number];

function* checks(spec: BgpFilterSpec): Generator<Check> {
  for (const name of ["exportV4", "importV4", "exportV6", "importV6"] as const) {
    const family = name.endsWith("4") ? 4 : 6;
    for (const [at, rule] of (spec[name] ?? []).entries()) yield* ruleChecks(rule, `spec.${name}[${at}]`, family);
  }
}

function* ruleChecks(rule: FilterRule, at: string, family: 4 | 6): Generator<Check> {
  const isNetwork = filled(rule.cidr, (text) => isStrictNetwork(text, family));
  yield [`${at}.cidr`, isNetwork, `must be an IPv${family} network without host bits`];
  const max = family === 4 ? 32 : 128;
  const isLength = (value: number) => value >= 0 && value <= max;
  yield [`${at}.prefixLength.min`, given(rule.prefixLength?.min, isLength), `must be from 0 to ${max}`];
  yield [`${at}.prefixLength.max`, given(rule.prefixLength?.max, isLength), `must be from 0 to ${max}`];
  yield [`${at}.source`, filled(rule.source, (text) => text === "RemotePeers"), "must be RemotePeers"];
  yield [`${at}.interface`, filled(rule.interface, isInterfacePattern), interfacePatternRule];
  const isPeerType = filled(rule.peerType, (text) => text === "eBGP" || text === "iBGP");
  yield [`${at}.peerType`, isPeerType, "must be eBGP or iBGP"];
  yield [`${at}.communities.values`, given(rule.communities, ({ values }) => values !== undefined), "must be given"];
  yield [`${at}.priority`, given(rule.priority, isPriority), priorityRule];
  yield [`${at}.action`, rule.action !== undefined && rule.action !== "", "must be given"];
  for (const [index, operation] of (rule.operations ?? []).entries()) {
    yield* operationChecks(operation, `${at}.operations[${index}]`);
  }
}

function* operationChecks(operation: NonNullable<FilterRule["operations"]>[number], at: string): Generator<Check> {
  const { addCommunity, prependASPath, setPriority } = operation;
  yield [`${at}.addCommunity.value`, given(addCommunity, ({ value }) => value !== undefined), "must be given"];
  yield [`${at}.prependASPath.prefix`, given(prependASPath, ({ prefix }) => prefix !== undefined), "must be given"];
  const isSettable = given(setPriority, ({ value }) => value !== undefined && isPriority(value));
  yield [`${at}.setPriority.value`, isSettable, priorityRule];
}
