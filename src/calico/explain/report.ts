// Answers as text for people and as JSON for programs.
import { addressText } from "../../base/lib/index.ts";
import {
  type Cause,
  isSameDecision,
  type Policy,
  type PortsWithVerdict,
  type Stage,
  type TierAsked,
  type Verdict,
} from "../policy/index.ts";
import type { Answered } from "./answer.ts";
import { whatWouldChange } from "./change.ts";
import { causeText, endpointText, listOf, policyText, portText, ruleText, stageText } from "./words.ts";

export type ReportOptions = {
  readonly isColoured: boolean;
  readonly fileOf: (policy: Policy) => string | undefined;
};

export function reportText(answered: Answered, options: ReportOptions): string {
  const { source, destination, traffic, verdict, ports } = answered;
  const lines = [`${source} -> ${destination}, ${traffic}: ${headline(answered, options)}`];
  if (verdict !== undefined) lines.push("", ...verdictLines(verdict, options), ...changeLines(answered, verdict));
  else
    for (const { name, verdict: one } of sameAnswers(ports))
      lines.push("", `${name}: ${mark(one.verdict, options)}`, ...verdictLines(one, options));
  lines.push(...stagedLines(answered, options));
  return lines.join("\n");
}

/** Ports with one answer are told together, and the largest number of them as the rest. */
function sameAnswers(
  ports: readonly PortsWithVerdict[],
): readonly { readonly name: string; readonly verdict: Verdict }[] {
  const groups: PortsWithVerdict[][] = [];
  for (const range of ports) {
    const group = groups.find(([first]) => first !== undefined && isSameDecision(first.verdict, range.verdict));
    if (group === undefined) groups.push([range]);
    else group.push(range);
  }
  const size = (group: readonly PortsWithVerdict[]) =>
    group.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  const named = groups
    .toSorted((a, b) => size(a) - size(b))
    .flatMap((group, index, all) => {
      const [first] = group;
      if (first === undefined) return [];
      const name = index === all.length - 1 ? "every other port" : `port ${listOf(group.map(portText))}`;
      return [{ name, verdict: first.verdict }];
    });
  return named;
}

function headline({ verdict, ports }: Answered, options: ReportOptions): string {
  if (verdict !== undefined) return mark(verdict.verdict, options);
  const open = ports.filter((one) => one.verdict.verdict === "allow").map(portText);
  return open.length === 0
    ? mark("deny", options)
    : `${mark("allow", options)} on port ${listOf(open)}, otherwise ${mark("deny", options)}`;
}

function mark(verdict: "allow" | "deny", { isColoured }: ReportOptions): string {
  const word = verdict === "allow" ? "ALLOWED" : "DENIED";
  return isColoured ? `\u001b[${verdict === "allow" ? 32 : 31}m${word}\u001b[0m` : word;
}

function verdictLines({ stages }: Verdict, options: ReportOptions): readonly string[] {
  if (stages.length === 0) return ["  no node on the way has anything to say about it"];
  return stages.flatMap((stage) => stageLines(stage, options));
}

function stageLines(stage: Stage, options: ReportOptions): readonly string[] {
  const outcome = stage.verdict === "allow" ? "allowed" : stage.verdict === "deny" ? "denied" : "no policy about it";
  const lines = [`  ${stageText(stage)}: ${outcome}`];
  if (stage.reason !== undefined) lines.push(`    ${stage.reason}`);
  for (const tier of stage.answer?.tiers ?? []) lines.push(...tierLines(tier, stage, options));
  const cause = stage.answer?.cause;
  if (cause?.is === "end of tier")
    lines.push(`    the end of tier ${cause.tier.name} denies what its policies leave open`);
  else if (cause !== undefined && cause.is !== "rule") lines.push(`    ${causeText(cause, stage.direction)}`);
  return lines;
}

function tierLines(
  { tier, isMissing, policies, outcome }: TierAsked,
  stage: Stage,
  options: ReportOptions,
): readonly string[] {
  const order = isMissing
    ? "no such tier: it comes last"
    : tier.order === undefined
      ? "no order"
      : `order ${tier.order}`;
  const lines = [`    tier ${tier.name} (${order})`];
  for (const { policy, matched, logged } of policies) {
    const file = options.fileOf(policy);
    const where = file === undefined ? "" : `  [${file}]`;
    const says =
      matched === undefined
        ? "no rule holds"
        : `${stage.direction} rule ${matched.number} holds: ${ruleText(matched.rule)}`;
    lines.push(`      ${policyText(policy)}: ${says}${where}`);
    if (logged.length > 0)
      lines.push(`        rule ${listOf(logged.map(({ number }) => String(number)))} writes a log line and goes on`);
  }
  if (outcome === "pass") lines.push("      passes on to the next tier");
  if (outcome === "pass at its end") lines.push("      its end passes on to the next tier");
  return lines;
}

function changeLines(answered: Answered, verdict: Verdict): readonly string[] {
  const change = whatWouldChange(answered, verdict);
  return change === undefined ? [] : ["", ...change.split("\n").map((line) => `  ${line}`.trimEnd())];
}

function stagedLines({ staged }: Answered, options: ReportOptions): readonly string[] {
  if (staged === undefined) return [];
  const { verdict, ports } = staged;
  if (verdict !== undefined)
    return [
      "",
      `With the staged policies enforced: ${mark(verdict.verdict, options)}`,
      ...verdictLines(verdict, options),
    ];
  return [
    "",
    "With the staged policies enforced:",
    ...ports.map((range) => `  port ${portText(range)}: ${mark(range.verdict.verdict, options)}`),
  ];
}

export function reportJson(answered: Answered, options: Pick<ReportOptions, "fileOf">): unknown {
  const { source, destination, flow, verdict, ports, staged } = answered;
  const verdicts = (of: Pick<Answered, "verdict" | "ports">) => ({
    ...(of.verdict === undefined
      ? {}
      : { verdict: of.verdict.verdict, stages: of.verdict.stages.map((one) => stageJson(one, options)) }),
    ...(of.verdict !== undefined ? {} : { ports: of.ports.map((one) => portsJson(one, options)) }),
  });
  return {
    source: { name: source, address: addressText(flow.source.address.family, flow.source.address.first) },
    destination: {
      name: destination,
      address: addressText(flow.destination.address.family, flow.destination.address.first),
    },
    protocol: flow.protocol,
    ...(flow.destinationPort === undefined ? {} : { port: flow.destinationPort }),
    ...verdicts({ verdict, ports }),
    ...(staged === undefined ? {} : { staged: verdicts(staged) }),
  };
}

function portsJson({ first, last, verdict }: PortsWithVerdict, options: Pick<ReportOptions, "fileOf">) {
  return { first, last, verdict: verdict.verdict, stages: verdict.stages.map((one) => stageJson(one, options)) };
}

function stageJson(stage: Stage, { fileOf }: Pick<ReportOptions, "fileOf">) {
  const { node, endpoint, direction, class: of, verdict, answer, reason } = stage;
  return {
    node,
    ...(endpoint === undefined ? {} : { endpoint: endpointText(endpoint) }),
    direction,
    class: of,
    verdict,
    ...(reason === undefined ? {} : { reason }),
    ...(answer?.cause === undefined ? {} : { decidedBy: causeJson(answer.cause, stage, fileOf) }),
    tiers: (answer?.tiers ?? []).map(({ tier, policies, outcome }) => ({
      name: tier.name,
      outcome,
      policies: policies.map(({ policy, matched }) => ({
        ...policyJson(policy, fileOf),
        ...(matched === undefined ? {} : { rule: matched.number, says: ruleText(matched.rule) }),
      })),
    })),
  };
}

function causeJson(cause: Cause, { direction }: Stage, fileOf: ReportOptions["fileOf"]) {
  const says = causeText(cause, direction);
  switch (cause.is) {
    case "rule":
      return {
        is: cause.is,
        tier: cause.tier.name,
        policy: policyJson(cause.policy, fileOf),
        rule: cause.at.number,
        says,
      };
    case "end of tier":
      return {
        is: cause.is,
        tier: cause.tier.name,
        policies: cause.policies.map((one) => policyJson(one, fileOf)),
        says,
      };
    case "profile":
      return { is: cause.is, profile: cause.profile, rule: cause.at.number, says };
    case "missing profile":
      return { is: cause.is, profile: cause.profile, says };
    case "no rule":
      return { is: cause.is, says };
  }
}

function policyJson(policy: Policy, fileOf: ReportOptions["fileOf"]) {
  const { kind, namespace, name } = policy;
  const file = fileOf(policy);
  return { kind, ...(namespace === "" ? {} : { namespace }), name, ...(file === undefined ? {} : { file }) };
}
