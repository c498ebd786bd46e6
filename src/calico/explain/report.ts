// Answers as text for people and as JSON for programs.
import { addressText } from "../../base/lib/index.ts";
import {
  type Cause,
  type Direction,
  isSameDecision,
  type Policy,
  type PortsWithVerdict,
  type Stage,
  type TierAsked,
  type Verdict,
} from "../policy/index.ts";
import type { Answered } from "./answer.ts";
import { whatWouldChange } from "./change.ts";
import { ruleName, type Sources } from "./origin.ts";
import { causeText, endpointText, listOf, policyText, portText, ruleText, stageText } from "./words.ts";

export type ReportOptions = Sources & { readonly isColoured: boolean };

/** An answer in the pieces in which it is shown, without marks of a terminal. */
export type Shown = {
  readonly source: string;
  readonly destination: string;
  readonly traffic: string;
  /** One, or one for each group of ports that have the same answer. */
  readonly answers: readonly ShownAnswer[];
  readonly change: string | undefined;
  /** Where staged policies would make a difference. */
  readonly staged: readonly ShownAnswer[];
};

export type ShownAnswer = {
  /** "port 80", "every other port"; undefined where the answer is for all that was asked. */
  readonly ports: string | undefined;
  readonly verdict: "allow" | "deny";
  readonly stages: readonly { readonly where: string; readonly outcome: string; readonly lines: readonly string[] }[];
};

export function shownOf(answered: Answered, options: Sources): Shown {
  const { source, destination, traffic, verdict, staged } = answered;
  const answers = (of: Pick<Answered, "verdict" | "ports">) =>
    of.verdict !== undefined
      ? [shownVerdict(undefined, of.verdict, options)]
      : sameAnswers(of.ports).map(({ name, verdict: one }) => shownVerdict(name, one, options));
  return {
    ...{ source, destination, traffic },
    answers: answers(answered),
    change: verdict === undefined ? undefined : whatWouldChange(answered, verdict, options),
    staged: staged === undefined ? [] : answers(staged),
  };
}

function shownVerdict(ports: string | undefined, verdict: Verdict, options: Sources): ShownAnswer {
  return { ports, verdict: verdict.verdict, stages: verdict.stages.map((stage) => shownStage(stage, options)) };
}

function shownStage(stage: Stage, options: Sources): ShownAnswer["stages"][number] {
  const outcome = stage.verdict === "allow" ? "allowed" : stage.verdict === "deny" ? "denied" : "no policy about it";
  const lines: string[] = [];
  if (stage.reason !== undefined) lines.push(stage.reason);
  for (const tier of stage.answer?.tiers ?? []) lines.push(...tierLines(tier, stage, options));
  const cause = stage.answer?.cause;
  if (cause?.is === "end of tier") lines.push(`the end of tier ${cause.tier.name} denies what its policies leave open`);
  else if (cause !== undefined && cause.is !== "rule") lines.push(causeText(cause, stage.direction, options.originOf));
  return { where: stageText(stage), outcome, lines };
}

export function reportText(answered: Answered, options: ReportOptions): string {
  const { source, destination, traffic, answers, change, staged } = shownOf(answered, options);
  const lines = [`${source} -> ${destination}, ${traffic}: ${headline(answered, options)}`];
  for (const one of answers)
    lines.push(
      "",
      ...(one.ports === undefined ? [] : [`${one.ports}: ${mark(one.verdict, options)}`]),
      ...stageLines(one),
    );
  if (change !== undefined) lines.push("", ...change.split("\n").map((line) => `  ${line}`.trimEnd()));
  const [first] = staged;
  if (first?.ports === undefined && first !== undefined)
    lines.push("", `With the staged policies enforced: ${mark(first.verdict, options)}`, ...stageLines(first));
  else if (first !== undefined)
    lines.push(
      "",
      "With the staged policies enforced:",
      ...(answered.staged?.ports ?? []).map(
        (range) => `  port ${portText(range)}: ${mark(range.verdict.verdict, options)}`,
      ),
    );
  return lines.join("\n");
}

function stageLines({ stages }: ShownAnswer): readonly string[] {
  if (stages.length === 0) return ["  no node on the way has anything to say about it"];
  return stages.flatMap(({ where, outcome, lines }) => [
    `  ${where}: ${outcome}`,
    ...lines.map((line) => `    ${line}`),
  ]);
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

function tierLines(
  { tier, isMissing, policies, outcome }: TierAsked,
  stage: Stage,
  options: Sources,
): readonly string[] {
  const order = isMissing
    ? "no such tier: it comes last"
    : tier.order === undefined
      ? "no order"
      : `order ${tier.order}`;
  const lines = [`tier ${tier.name} (${order})`];
  for (const { policy, matched, logged } of policies) {
    const file = options.fileOf(policy);
    const where = file === undefined ? "" : `  [${file}]`;
    const says =
      matched === undefined
        ? "no rule holds"
        : `${ruleName(policy, { direction: stage.direction, number: matched.number }, options.originOf)} holds: ${ruleText(matched.rule)}`;
    lines.push(`  ${policyText(policy)}: ${says}${where}`);
    if (logged.length > 0)
      lines.push(`    rule ${listOf(logged.map(({ number }) => String(number)))} writes a log line and goes on`);
  }
  if (outcome === "pass") lines.push("  passes on to the next tier");
  if (outcome === "pass at its end") lines.push("  its end passes on to the next tier");
  return lines;
}

export function reportJson(answered: Answered, options: Sources): unknown {
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

function portsJson({ first, last, verdict }: PortsWithVerdict, options: Sources) {
  return { first, last, verdict: verdict.verdict, stages: verdict.stages.map((one) => stageJson(one, options)) };
}

function stageJson(stage: Stage, sources: Sources) {
  const { node, endpoint, direction, class: of, verdict, answer, reason } = stage;
  return {
    node,
    ...(endpoint === undefined ? {} : { endpoint: endpointText(endpoint) }),
    direction,
    class: of,
    verdict,
    ...(reason === undefined ? {} : { reason }),
    ...(answer?.cause === undefined ? {} : { decidedBy: causeJson(answer.cause, stage, sources) }),
    tiers: (answer?.tiers ?? []).map(({ tier, policies, outcome }) => ({
      name: tier.name,
      outcome,
      policies: policies.map(({ policy, matched }) => ({
        ...policyJson(policy, sources),
        ...(matched === undefined
          ? {}
          : { ...ruleJson(policy, direction, matched.number, sources), says: ruleText(matched.rule) }),
      })),
    })),
  };
}

function causeJson(cause: Cause, { direction }: Stage, sources: Sources) {
  const says = causeText(cause, direction, sources.originOf);
  switch (cause.is) {
    case "rule":
      return {
        is: cause.is,
        tier: cause.tier.name,
        policy: policyJson(cause.policy, sources),
        ...ruleJson(cause.policy, direction, cause.at.number, sources),
        says,
      };
    case "end of tier":
      return {
        is: cause.is,
        tier: cause.tier.name,
        policies: cause.policies.map((one) => policyJson(one, sources)),
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

/** `rule` is the number among the rules that nodes have, `written` the rule of the object. */
function ruleJson(policy: Policy, direction: Direction, number: number, { originOf }: Sources) {
  const written = originOf(policy, direction, number);
  return { rule: number, ...(written === undefined ? {} : { written }) };
}

function policyJson(policy: Policy, { fileOf }: Sources) {
  const { kind, namespace, name } = policy;
  const file = fileOf(policy);
  return { kind, ...(namespace === "" ? {} : { namespace }), name, ...(file === undefined ? {} : { file }) };
}
