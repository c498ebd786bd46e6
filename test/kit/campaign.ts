// How much of a campaign to run: a short one with `npm test`, the whole with `npm run campaign:<name>`. Only the whole asserts
// times, because only then does nothing else run on the machine.
import { type Figure, record } from "./record.ts";

export const isLong = process.env.CAMPAIGN === "long";

export function size(sizes: { short: number; long: number }): number {
  return isLong ? sizes.long : sizes.short;
}

/** What was measured, for the log of a long campaign and, where results are kept, for them. */
export function say(of: string, figures: { [name: string]: number | string }, seed?: number): void {
  const texts = Object.entries(figures).map(([name, value]) => {
    return `${name} ${typeof value === "number" ? Math.round(value * 10) / 10 : value}`;
  });
  console.log(`measured: ${of}: ${texts.join(", ")}`);
  record({ of, seed, figures: figures satisfies { [name: string]: Figure } });
}

/** What was wrong, with what had been done until then; whoever calls it goes on to fail. Without it a campaign that finds something leaves no result. */
export function sayWrong(of: string, error: unknown, figures: { [name: string]: number | string }, seed?: number) {
  const [line = ""] = (error instanceof Error ? error.message : `${error}`).split("\n");
  say(of, { ...figures, wrong: line.slice(0, 300) }, seed);
}
