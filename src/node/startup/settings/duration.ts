// Durations as Go writes them: 1m30s, 500ms.
const unitMs: { readonly [unit: string]: number } = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** 1m30s, 500ms: milliseconds; undefined: no such duration. */
export function goDurationMs(value: string): number | undefined {
  const [, sign = "", rest = ""] = /^([+-]?)(.*)$/s.exec(value) ?? [];
  if (rest === "0") return 0;
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(rest)) return undefined;
  let sum = 0;
  for (const [, number, unit = ""] of rest.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    sum += Number(number) * (unitMs[unit] ?? 0);
  }
  return sign === "-" ? -sum : sum;
}
