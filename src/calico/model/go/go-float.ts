// Floating point as Go's fmt prints it with %v: plain from 0.0001 up to a million, else with an exponent of at least two
// digits. JSON (go-json.ts) and JavaScript have other limits.
export function printGoFloat(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [mantissa = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return String(value);
  // JavaScript's shortest digits are Go's; up to 21 digits it prints no exponent, hence toExponential.
  const sign = exponent < 0 ? "-" : "+";
  return `${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
