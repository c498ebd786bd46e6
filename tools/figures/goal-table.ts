// "Goals at a glance" of docs/performance.md: each goal, whether it is met, and the figures that say so.
import { withUnit } from "./beside.ts";
import { type Goal, goals } from "./goals.ts";
import type { Sitting, StepResult } from "./sitting.ts";
import { table } from "./tables.ts";

export function goalTable({ steps }: Sitting): string {
  const rows = goals.map((goal) => [goal.what, goal.says, ...judged(goal, steps[goal.step])]);
  const used = [...new Set(goals.map(({ step }) => step))].flatMap((name) => steps[name] ?? []);
  const counted = (word: string) => rows.filter(([, , outcome]) => outcome?.startsWith(word)).length;
  const [met, missed] = [counted("met"), counted("**missed**")];
  const sum = `${goals.length} goals: ${met} met, ${missed} missed, ${goals.length - met - missed} not measured.`;
  return `${sum}\n\n${table(["what", "goal", "outcome", "measured"], rows)}\n\n${measuredWhen(used)}`.trimEnd();
}

/** The outcome in words, and the figures. They are judged as they are shown: to two digits after the point. */
export function judged(goal: Goal, step: StepResult | undefined): [outcome: string, figures: string] {
  const cases = goal.cases.map(({ says, value }) => ({ says, value: rounded(value(step?.records ?? [])) }));
  const measured = cases.filter(({ value }) => Number.isFinite(value));
  if (measured.length === 0) {
    const isFailed = step !== undefined && step.outcome !== "passed";
    return [isFailed ? `not measured: the bench ended badly (${step.outcome})` : "not measured in this sitting", ""];
  }
  const isMet = (value: number) => (goal.is === "at most" ? value <= goal.limit : value >= goal.limit);
  const missed = measured.filter(({ value }) => !isMet(value));
  const parts = missed.length === 0 || cases.length === 1 ? "" : ` in ${missed.length} of ${cases.length}`;
  const outcome = missed.length === 0 ? "met" : `**missed**${parts}`;
  const absent = measured.length === cases.length ? "" : `; ${cases.length - measured.length} not measured`;
  const failed = step?.outcome === "passed" ? "" : `; the bench ended badly (${step?.outcome})`;
  const figures = measured.map(({ says, value }) => {
    const text = withUnit(value, goal.unit ?? "");
    const marked = isMet(value) || cases.length === 1 ? text : `**${text}**`;
    return says === "" ? marked : `${says}: ${marked}`;
  });
  return [`${outcome}${absent}${failed}`, figures.join("; ")];
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

function measuredWhen(steps: readonly StepResult[]): string {
  const when = new Set(steps.map(({ date, machine }) => `${date.slice(0, 10)}, ${machine}`));
  return [...when].map((each) => `${each}.`).join(" ");
}
