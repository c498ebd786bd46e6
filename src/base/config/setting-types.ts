// The kinds of values that settings have: how each is read from text, and what is said about it in help, on the
// reference page and in errors. The formats are the original's, down to octal integers.

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

export type SettingType<T> = {
  /** What is allowed, to follow "must be". */
  readonly allowed: string;
  /** What `none` sets. */
  readonly zero: T;
  parse(text: string, checks: TypeChecks): Parsed<T>;
  show(value: T): string;
};

/** What parsing asks of the world outside. */
export type TypeChecks = { exists(path: string): boolean };

const good = <T>(value: T): Parsed<T> => ({ ok: true, value });
const bad = (why: string): { ok: false; why: string } => ({ ok: false, why });

export const bool: SettingType<boolean> = {
  allowed: "true, 1, yes, y, t, false, 0, no, n or f (in any case)",
  zero: false,
  parse: (text) => {
    if (/^(true|1|yes|y|t)$/i.test(text)) return good(true);
    return /^(false|0|no|n|f)$/i.test(text) ? good(false) : bad("it is no yes or no");
  },
  show: String,
};

/** As Go's strconv.ParseBool, which the datastore variables use. */
export const goBool: SettingType<boolean> = {
  allowed: "1, t, T, TRUE, true, True, 0, f, F, FALSE, false or False",
  zero: false,
  parse: (text) => {
    if (/^(1|t|T|TRUE|true|True)$/.test(text)) return good(true);
    return /^(0|f|F|FALSE|false|False)$/.test(text) ? good(false) : bad("it is no yes or no");
  },
  show: String,
};

export function integer(range: { min: number; max?: number }): SettingType<number> {
  const { min, max = 2 ** 31 - 1 } = range;
  return {
    allowed: max === 2 ** 31 - 1 ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`,
    zero: 0,
    parse: (text) => {
      const value = goInteger(text);
      if (value === undefined) return bad("it is no integer");
      return value < min || value > max ? bad(`${value} is out of range`) : good(value);
    },
    show: String,
  };
}

/** Go's integers of base 0: 0x, 0o and 0b prefixes, a leading 0 for octal, "_" between digits. */
export function goInteger(text: string): number | undefined {
  const match =
    /^([+-]?)(?:0[xX]((?:_?[0-9a-fA-F])+)|0[bB]((?:_?[01])+)|0[oO]((?:_?[0-7])+)|(0(?:_?[0-7])*)|([1-9](?:_?\d)*))$/.exec(
      text,
    );
  if (match === null) return undefined;
  const [, sign, hex, binary, octal, oldOctal, decimal] = match;
  const [digits = "0", base = 10] =
    hex !== undefined
      ? [hex, 16]
      : binary !== undefined
        ? [binary, 2]
        : decimal !== undefined
          ? [decimal, 10]
          : [octal ?? oldOctal, 8];
  const value = Number.parseInt(digits.replaceAll("_", ""), base);
  return (sign === "-" ? -value : value) || 0; // -0 is 0
}

// Timers of more milliseconds than this fire at once in Node; nobody who writes 24 days means less than for ever.
const longestMs = 2 ** 31 - 1;

/** Seconds in the text, milliseconds in the program. */
export const seconds: SettingType<number> = {
  allowed: "a number of seconds, such as 10, 0.5 or 1e3",
  zero: 0,
  parse: (text) => {
    const value = goFloat(text);
    return value === undefined ? bad("it is no number") : good(Math.max(-longestMs, Math.min(longestMs, value * 1000)));
  },
  show: (ms) => `${ms / 1000}`,
};

export const float: SettingType<number> = {
  allowed: "a number",
  zero: 0,
  parse: (text) => {
    const value = goFloat(text);
    return value === undefined ? bad("it is no number") : good(value);
  },
  show: String,
};

function goFloat(text: string): number | undefined {
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined;
}

/** Matched in any case, kept in the spelling given here; `none` leaves it empty. */
export function oneOf<const V extends readonly string[]>(...values: V): SettingType<V[number] | ""> {
  return { ...choice<V[number] | "">("", ...values), allowed: `one of ${values.join(", ")}` };
}

/** As oneOf, but there always is one: `none` gives the first. */
export function choice<const V extends string>(whenNone: V, ...values: readonly V[]): SettingType<V> {
  return {
    allowed: `one of ${values.join(", ")}`,
    zero: whenNone,
    parse: (text) => {
      const found = values.find((value) => value.toLowerCase() === text.toLowerCase());
      return found === undefined ? bad("it is none of them") : good(found);
    },
    show: (value) => value,
  };
}

export const string: SettingType<string> = matching(/^.*$/, "text on one line");
export const hostAddress: SettingType<string> = matching(
  /^[a-zA-Z0-9:._+-]{1,64}$/,
  "a host name or address (letters, digits and :._+-, at most 64)",
);
export const authority: SettingType<string> = matching(/^[^:/]+:\d+$/, "host:port");
export const path: SettingType<string> = matching(/^[^\0]*$/, "a file's path");

export const existingFile: SettingType<string> = {
  ...path,
  allowed: "the path of a file that exists",
  parse: (text, { exists }) => (exists(text) ? good(text) : bad("there is no such file, or it may not be looked at")),
};

export const existingFolder: SettingType<string> = {
  ...existingFile,
  allowed: "the path of a folder that exists",
};

/** etcd's endpoints: each comes out with one "/" at its end, as the original writes them. */
export const endpoints: SettingType<readonly string[]> = {
  allowed: "a comma-separated list of URLs of the form http(s)://host:port",
  zero: [],
  parse: (text) => {
    const urls = items(text);
    const wrong = urls.find((url) => !/^https?:\/\/(\[[0-9a-f:.]+\]|[^\s/:@?#[\]]+)(:\d{1,5})?\/?$/i.test(url));
    if (wrong !== undefined) return bad(`${JSON.stringify(withoutCredentials(wrong))} is not of that form`);
    return good(urls.map((url) => `${url.replace(/^[a-z]+/i, (scheme) => scheme.toLowerCase()).replace(/\/$/, "")}/`));
  },
  show: (urls) => urls.join(","),
};

export const authorities: SettingType<readonly string[]> = {
  allowed: "a comma-separated list of host:port, IPv6 addresses in brackets",
  zero: [],
  parse: (text) => {
    const wrong = items(text).find((item) => !/^(\[[0-9a-fA-F:.]+\]|[^\s:/[\]]+):\d{1,5}$/.test(item));
    return wrong === undefined ? good(items(text)) : bad(`${JSON.stringify(wrong)} is not of that form`);
  },
  show: (list) => list.join(","),
};

/** A proxy's URL, or host:port. Whoever looks at the settings is not shown the password in it. */
export const proxyUrl: SettingType<string> = {
  allowed: "a proxy's URL, such as http://host:port (also https, socks5), or host:port",
  zero: "",
  parse: (text) => {
    const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
    const url = URL.canParse(isUrl ? text : `http://${text}`) ? new URL(isUrl ? text : `http://${text}`) : undefined;
    const isProxy = url !== undefined && url.hostname !== "" && /^(https?|socks[45]?[ah]?):$/.test(url.protocol);
    return isProxy || text === "" ? good(text) : bad("it is not of that form");
  },
  show: withoutCredentials,
};

/** URLs as they may be shown: without the user and password in front of their host. */
export function withoutCredentials(urls: string): string {
  return urls.replace(/[^/\s,]*@/g, "<redacted>@");
}

export const strings: SettingType<readonly string[]> = {
  allowed: "a comma-separated list of names",
  zero: [],
  parse: (text) => good(items(text)),
  show: (list) => list.join(","),
};

/** A count, or "auto" for as many as the machine has use for. */
export function countOrAuto(range: { min: number; max: number }): SettingType<number | "auto"> {
  const count = integer(range);
  return {
    ...count,
    allowed: `auto or ${count.allowed}`,
    parse: (text, checks) => (text.toLowerCase() === "auto" ? good("auto" as const) : count.parse(text, checks)),
    show: String,
  };
}

function matching(pattern: RegExp, allowed: string): SettingType<string> {
  return {
    allowed,
    zero: "",
    parse: (text) => (pattern.test(text) ? good(text) : bad("it has characters that may not be there, or is too long")),
    show: (value) => value,
  };
}

function items(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
