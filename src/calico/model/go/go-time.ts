// Times and durations as Go reads and prints them inside API objects: metav1.Time (RFC 3339, whole seconds, UTC) and
// metav1.Duration ("1m30s").

const timePattern = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,]\d+)?(Z|([+-])(\d\d):(\d\d))$/;
const zeroTime = "0001-01-01T00:00:00Z";

/** In UTC and whole seconds; "" for Go's zero time; undefined: not an RFC 3339 time. */
export function canonicalTime(text: string): string | undefined {
  const match = timePattern.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, zone, sign, zoneHour, zoneMinute] = match;
  if (!isDay(Number(year), Number(month), Number(day))) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (zone === "Z") return shown(text.length === 20 ? text : `${text.slice(0, 19)}Z`);
  if (Number(zoneHour) > 23 || Number(zoneMinute) > 59) return undefined;
  const offsetMinutes = (sign === "-" ? -1 : 1) * (Number(zoneHour) * 60 + Number(zoneMinute));
  return shown(printUtc(new Date(Date.parse(`${text.slice(0, 19)}Z`) - offsetMinutes * 60_000)));
}

/** Go pads years to four digits and lets them grow; JavaScript writes six digits and a sign beyond four. */
function printUtc(time: Date): string {
  const iso = time.toISOString();
  const year = time.getUTCFullYear();
  const rest = iso.slice(iso.indexOf("-", 1), -".000Z".length);
  return `${year < 0 ? "-" : ""}${String(Math.abs(year)).padStart(4, "0")}${rest}Z`;
}

function isDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= ([31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0);
}

function shown(text: string): string {
  return text === zeroTime ? "" : text;
}

const units: { readonly [unit: string]: bigint } = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n, // U+00B5
  μs: 1_000n, // U+03BC
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const maxNanoseconds = (1n << 63n) - 1n;
const term = /(\d*)(?:\.(\d*))?([^\d.]+)/y;

/** Nanoseconds; undefined: not a duration that Go can hold. */
export function parseDuration(text: string): bigint | undefined {
  if (text.length > 200) return undefined;
  const isNegative = text.startsWith("-");
  const rest = isNegative || text.startsWith("+") ? text.slice(1) : text;
  if (rest === "0") return 0n;
  let total = 0n;
  let at = 0;
  while (at < rest.length || at === 0) {
    term.lastIndex = at;
    const [, whole = "", fraction = "", unitName = ""] = term.exec(rest) ?? [];
    const unit = Object.hasOwn(units, unitName) ? units[unitName] : undefined;
    if (unit === undefined || (whole === "" && fraction === "")) return undefined;
    total += BigInt(whole === "" ? 0 : whole) * unit + fractionOf(fraction, unit);
    if (total > maxNanoseconds) return undefined;
    at = term.lastIndex;
  }
  return isNegative ? -total : total;
}

/** Go multiplies fractions as floating point and cuts them off; so does this, digit for digit. */
function fractionOf(digits: string, unit: bigint): bigint {
  if (digits === "") return 0n;
  const kept = digits.slice(0, 18);
  return BigInt(Math.trunc(Number(kept) * (Number(unit) / 10 ** kept.length)));
}

export function printDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return "0s";
  const sign = nanoseconds < 0n ? "-" : "";
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 3)}µs`;
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 6)}ms`;
  const minutes = size / 60_000_000_000n;
  const seconds = `${decimal(size % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  if (minutes < 60n) return `${sign}${minutes}m${seconds}`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** The number over 10^digits, without needless zeros. */
function decimal(value: bigint, digits: number): string {
  const scale = 10n ** BigInt(digits);
  const fraction = (value % scale).toString().padStart(digits, "0").replace(/0+$/, "");
  return `${value / scale}${fraction === "" ? "" : `.${fraction}`}`;
}
