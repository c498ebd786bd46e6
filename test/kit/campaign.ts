// How much of a campaign to run: a short one with `npm test`, the whole with `npm run campaign:<name>`. Only the whole asserts
// times, because only then does nothing else run on the machine.
export const isLong = process.env.CAMPAIGN === "long";

export function size(sizes: { short: number; long: number }): number {
  return isLong ? sizes.long : sizes.short;
}

/** What was measured, for the log of a long campaign. */
export function say(figures: { [name: string]: number | string }): void {
  const texts = Object.entries(figures).map(([name, value]) => {
    return `${name} ${typeof value === "number" ? Math.round(value * 10) / 10 : value}`;
  });
  console.log(`measured: ${texts.join(", ")}`);
}
