// Which of many the kernel refuses: halves are tried until single ones are left. Trials change nothing, so nothing flaps meanwhile.

/** Undefined: taken; else the kernel's words. */
export type Trial = (units: readonly string[]) => Promise<string | undefined>;

export async function refusedOf(units: readonly string[], trial: Trial): Promise<ReadonlyMap<string, string>> {
  if (units.length === 0) return new Map();
  const why = await trial(units);
  if (why === undefined) return new Map();
  const [only] = units;
  if (units.length === 1 && only !== undefined) return new Map([[only, why]]);
  const middle = Math.ceil(units.length / 2);
  const first = await refusedOf(units.slice(0, middle), trial);
  const second = await refusedOf(units.slice(middle), trial);
  return new Map([...first, ...second]);
}
