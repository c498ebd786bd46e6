// Whole numbers and truths as Go's flags read them, with its words for what they are not: scripts look for them.

export type GoNumber =
  | { readonly is: "number"; readonly value: number }
  | { readonly is: "problem"; readonly says: string };

const most = 2n ** 63n - 1n;

/** `reader` is the Go function's name, which its message begins with. */
export function goInteger(text: string, reader: "strconv.Atoi" | "strconv.ParseInt"): GoNumber {
  const problem = (why: string): GoNumber => ({
    is: "problem",
    says: `${reader}: parsing ${JSON.stringify(text)}: ${why}`,
  });
  if (!/^[+-]?[0-9]+$/.test(text)) return problem("invalid syntax");
  const value = BigInt(text.replace("+", ""));
  return value > most || value < -most - 1n ? problem("value out of range") : { is: "number", value: Number(value) };
}

/** Undefined: neither. */
export function goTruth(text: string): boolean | undefined {
  if (["1", "t", "T", "TRUE", "true", "True"].includes(text)) return true;
  return ["0", "f", "F", "FALSE", "false", "False"].includes(text) ? false : undefined;
}
