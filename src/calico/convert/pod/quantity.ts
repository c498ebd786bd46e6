// Kubernetes quantities ("1500m", "10M", "2Gi", "1e3") as whole numbers, rounded up as Kubernetes' Value() does.

const syntax = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+)|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]))?$/;
const maximum = 9223372036854775807n; // of an int64

const factors: { readonly [suffix: string]: readonly [numerator: bigint, denominator: bigint] } = {
  n: [1n, 1_000_000_000n],
  u: [1n, 1_000_000n],
  m: [1n, 1000n],
  k: [1000n, 1n],
  M: [1000n ** 2n, 1n],
  G: [1000n ** 3n, 1n],
  T: [1000n ** 4n, 1n],
  P: [1000n ** 5n, 1n],
  E: [1000n ** 6n, 1n],
  Ki: [1024n, 1n],
  Mi: [1024n ** 2n, 1n],
  Gi: [1024n ** 3n, 1n],
  Ti: [1024n ** 4n, 1n],
  Pi: [1024n ** 5n, 1n],
  Ei: [1024n ** 6n, 1n],
};

// No sensible quantity is this long; the cap keeps hostile annotations from costing megabytes of digits.
const maxLength = 256;

/** Undefined: the text is no quantity. */
export function parseQuantity(text: string): bigint | undefined {
  if (text === "" || text.length > maxLength) return undefined;
  const match = syntax.exec(text);
  if (match === null) return undefined;
  // Without any digit it is 0, as Kubernetes reads it.
  const [, sign, whole = "", fraction = "", exponentText, suffix] = match;
  const digits = BigInt(`${whole}${fraction}`);
  let [numerator, denominator] = suffix === undefined ? [1n, 1n] : (factors[suffix] ?? [1n, 1n]);
  denominator *= 10n ** BigInt(fraction.length);
  if (exponentText !== undefined) {
    // Beyond these bounds no bit of the digits is left, or only the smallest step.
    const exponent = Math.max(-400, Math.min(400, Number(exponentText)));
    if (exponent >= 0) numerator *= 10n ** BigInt(exponent);
    else denominator *= 10n ** BigInt(-exponent);
  }
  const scaled = digits * numerator;
  const value = scaled / denominator + (scaled % denominator === 0n ? 0n : 1n); // away from zero
  const signed = sign === "-" ? -value : value;
  if (value <= maximum) return signed;
  // What does not fit an int64 is odd in three ways: powers of two stop at the largest, a decimal number of up to 18 digits
  // counts as 0, and of a longer one the low 64 bits are left.
  if (suffix?.endsWith("i")) return sign === "-" ? -maximum : maximum;
  if (whole.replace(/^0+/, "").length + fraction.length <= 18) return 0n;
  const wrapped = BigInt.asIntN(64, value);
  return sign === "-" ? -wrapped : wrapped;
}
