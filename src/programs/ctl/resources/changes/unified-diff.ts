// The difference of two texts as diff -u writes it, by Myers' shortest edit script: lines that both have in common are found
// first at the ends, then in between.
//
//   @@ -3,4 +3,4 @@        old text from line 3, 4 lines; new text from line 3, 4 lines
//    metadata:             in both
//   -  cidr: 10.0.0.0/16   in the old one only
//   +  cidr: 10.0.0.0/17   in the new one only

export type DiffOptions = { readonly oldName: string; readonly newName: string; readonly context?: number };

/** Empty where they are the same. */
export function unifiedDiff(oldText: string, newText: string, options: DiffOptions): string {
  const { oldName, newName, context = 3 } = options;
  if (oldText === newText) return "";
  const steps = stepsBetween(linesOf(oldText), linesOf(newText));
  const hunks = hunksOf(steps, context).map(hunkText);
  return `--- ${oldName}\n+++ ${newName}\n${hunks.join("")}`;
}

type Step = { readonly is: " " | "-" | "+"; readonly line: string };
/** Where a step stands in both texts, from 0. */
type Placed = Step & { readonly oldAt: number; readonly newAt: number };

function linesOf(text: string): readonly string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function stepsBetween(before: readonly string[], after: readonly string[]): readonly Placed[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let tail = 0;
  const most = Math.min(before.length, after.length) - start;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const same = (lines: readonly string[]): Step[] => lines.map((line) => ({ is: " ", line }));
  const middle = shortest(before.slice(start, before.length - tail), after.slice(start, after.length - tail));
  const steps = [...same(before.slice(0, start)), ...middle, ...same(before.slice(before.length - tail))];
  let [oldAt, newAt] = [0, 0];
  return steps.map((step) => {
    const placed = { ...step, oldAt, newAt };
    if (step.is !== "+") oldAt++;
    if (step.is !== "-") newAt++;
    return placed;
  });
}

/** Beyond so many changed lines the shortest way is not looked for: everything is replaced. */
const mostEdits = 2000;

/** Myers: how far each diagonal reaches with so many edits; the way back is read from what was kept of each round. */
function shortest(before: readonly string[], after: readonly string[]): readonly Step[] {
  const rounds: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let edits = 0; edits <= Math.min(before.length + after.length, mostEdits); edits++) {
    rounds.push(reach);
    const next = new Map(reach);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = isDown(reach, diagonal, edits) ? (reach.get(diagonal + 1) ?? 0) : (reach.get(diagonal - 1) ?? 0) + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x++;
      next.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return wayBack(rounds, before, after);
    }
    reach = next;
  }
  return [...before.map((line): Step => ({ is: "-", line })), ...after.map((line): Step => ({ is: "+", line }))];
}

/** Whether the round came to this diagonal by a new line, and not by leaving out an old one. */
function isDown(reach: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true;
  return diagonal !== edits && (reach.get(diagonal - 1) ?? -1) < (reach.get(diagonal + 1) ?? -1);
}

function wayBack(
  rounds: readonly ReadonlyMap<number, number>[],
  before: readonly string[],
  after: readonly string[],
): readonly Step[] {
  const steps: Step[] = [];
  let [x, y] = [before.length, after.length];
  for (let edits = rounds.length - 1; edits >= 0; edits--) {
    const reach = rounds[edits] ?? new Map<number, number>();
    const diagonal = x - y;
    const from = isDown(reach, diagonal, edits) ? diagonal + 1 : diagonal - 1;
    const fromX = edits === 0 ? 0 : (reach.get(from) ?? 0);
    const fromY = edits === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY) {
      steps.push({ is: " ", line: before[--x] ?? "" });
      y--;
    }
    if (edits === 0) break;
    if (x === fromX) steps.push({ is: "+", line: after[--y] ?? "" });
    else steps.push({ is: "-", line: before[--x] ?? "" });
  }
  return steps.reverse();
}

/** Changes that lie close together share a hunk. */
function hunksOf(steps: readonly Placed[], context: number): readonly (readonly Placed[])[] {
  const hunks: { from: number; to: number }[] = [];
  for (const [at, { is }] of steps.entries()) {
    if (is === " ") continue;
    const last = hunks.at(-1);
    if (last !== undefined && at - context <= last.to + 1) last.to = at + context;
    else hunks.push({ from: at - context, to: at + context });
  }
  return hunks.map(({ from, to }) => steps.slice(Math.max(from, 0), to + 1));
}

function hunkText(steps: readonly Placed[]): string {
  const [first] = steps;
  const oldCount = steps.filter(({ is }) => is !== "+").length;
  const newCount = steps.filter(({ is }) => is !== "-").length;
  const head = `@@ -${range(first?.oldAt ?? 0, oldCount)} +${range(first?.newAt ?? 0, newCount)} @@\n`;
  return head + steps.map(({ is, line }) => `${is}${line}\n`).join("");
}

/** Of no lines: the line before. */
function range(at: number, count: number): string {
  return count === 1 ? `${at + 1}` : `${count === 0 ? at : at + 1},${count}`;
}
