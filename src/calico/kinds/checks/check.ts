// How a kind says its rules, and what a broken one is called. A check looks at a value and yields what is wrong with it;
// fields() and each() put checks together in the shape of a type. All that is wrong is found, in the order in which the
// original finds it: fields as they stand in the type, nested types where they stand, then the type's own rules.

/** One broken rule, in our words and in the original's, which people's scripts know. */
export type Problem = {
  /** As the user wrote it: spec.ingress[0].source.nets[1]. "" where it is the object as a whole. */
  readonly field: string;
  /** What is expected, in plain words. */
  readonly rule: string;
  /** What the original calls the field; "" where it says the reason alone. */
  readonly name: string;
  /** As the original prints it; absent where it shows none. */
  readonly value?: string;
  /** In the original's words. */
  readonly reason: string;
};

/** Where a value is: as the user wrote it, and what the original calls it. */
export type At = { readonly path: string; readonly name: string };

export type Check<T> = (value: T | undefined, at: At) => Iterable<Problem>;

/** A rule that has a name in the original. */
export type Tag<T> = { readonly tag: string; readonly rule: string; readonly holds: (value: T) => boolean };

/** Checked where something is given; "", 0 and an empty list count as nothing, as for Go. */
export const filled =
  <T>(...tags: Tag<T>[]): Check<T> =>
  (value, at) =>
    value === undefined || isEmpty(value) ? [] : firstBroken(tags, value, at);

/** Checked where it is given, be it "" or 0: in Go a pointer. */
export const given =
  <T>(...tags: Tag<T>[]): Check<T> =>
  (value, at) =>
    value === undefined ? [] : firstBroken(tags, value, at);

/** Checked always: what is missing is the zero value. */
export const always =
  <T>(zero: NoInfer<T>, ...tags: Tag<T>[]): Check<T> =>
  (value, at) =>
    firstBroken(tags, value ?? zero, at);

function* firstBroken<T>(tags: readonly Tag<T>[], value: T, { path, name }: At): Generator<Problem> {
  const broken = tags.find(({ holds }) => !holds(value));
  if (broken === undefined) return;
  const reason = tagReason(name, broken.tag);
  yield { field: path, rule: broken.rule, name, value: printGo(value), reason };
}

/** The blank at the end is the original's. */
export function tagReason(name: string, tag: string): string {
  return `Reason: failed to validate Field: ${name} because of Tag: ${tag} `;
}

export function each<T>(check: Check<T>): Check<readonly T[]> {
  return function* (values = [], { path, name }) {
    for (const [index, value] of values.entries()) {
      yield* check(value, { path: `${path}[${index}]`, name: `${name}[${index}]` });
    }
  };
}

/** What the second finds only where the first has found nothing. */
export const inTurn =
  <T>(first: Check<T>, second: Check<T>): Check<T> =>
  (value, at) => {
    const found = [...first(value, at)];
    return found.length > 0 ? found : second(value, at);
  };

type Members<T> = { readonly [N in keyof T]?: Check<NonNullable<T[N]>> };

/** A struct: its members in the order given, then `whole`, the type's own rules. What is not there has nothing wrong with it. */
export function fields<T extends object>(
  members: Members<T>,
  whole: (value: T, at: At) => Iterable<Problem> = () => [],
): Check<T> {
  return function* (value, at) {
    if (value === undefined) return;
    for (const [name, check] of Object.entries(members) as [keyof T & string, Check<unknown>][]) {
      yield* check(value[name] ?? undefined, { path: `${at.path}.${name}`, name: goName(name) });
    }
    yield* whole(value, at);
  };
}

const acronyms =
  /^(?:as|aws|bgp|bpf|cidr|http|icmp|ip|ipip|ipv4|ipv6|mac|mtu|nat|vxlan|xdp)(?=[A-Z]|$)|^nftables(?=[A-Z])/;
const spelled: { readonly [acronym: string]: string } = { ipv4: "IPv4", ipv6: "IPv6", nftables: "NFTables" };
const renamed: { readonly [name: string]: string } = { bpfConntrackMode: "BPFConntrackCleanupMode" };

/** The name of a field in Go, as far as the rules need them. */
export function goName(name: string): string {
  const known = renamed[name];
  if (known !== undefined) return known;
  const [acronym = ""] = acronyms.exec(name) ?? [];
  if (acronym === "") return name.charAt(0).toUpperCase() + name.slice(1);
  return (spelled[acronym] ?? acronym.toUpperCase()) + name.slice(acronym.length);
}

function isEmpty(value: unknown): boolean {
  return value === "" || value === 0 || value === false || (Array.isArray(value) && value.length === 0);
}

/** As Go's %v prints it. */
export function printGo(value: unknown): string {
  if (value === undefined || value === null) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(printGo).join(" ")}]`;
  if (typeof value !== "object") return String(value);
  return `{${Object.values(value).map(printGo).join(" ")}}`;
}

/** As Go prints a map of texts: by key. */
export function goMap(values: { readonly [key: string]: string }): string {
  const keys = Object.keys(values).sort();
  return `map[${keys.map((key) => `${key}:${values[key]}`).join(" ")}]`;
}

/** As the original prints what is wrong with an object: one in a sentence, several as a list. */
export function problemText(problems: readonly Problem[]): string {
  const [first] = problems;
  if (first === undefined) return "";
  if (problems.length === 1) return first.name === "" ? first.reason : `error with field ${oneText(first)}`;
  return `error with the following fields:\n${problems.map((problem) => `-  ${oneText(problem)}\n`).join("")}`;
}

function oneText({ name, value, reason }: Problem): string {
  return `${name}${value === undefined ? "" : ` = '${value}'`}${reason === "" ? "" : ` (${reason})`}`;
}
