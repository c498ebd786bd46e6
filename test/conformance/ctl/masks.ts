// Takes out of texts and stored values what differs from run to run: UIDs, times, revisions, versions, the addresses and
// paths of the test itself. Equal UIDs stay equal within a case, and a mirrored one is known as such.
import { isRecord } from "../../../src/base/lib/index.ts";

const uid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

type Replacement = readonly [pattern: RegExp, by: string | ((whole: string, ...groups: string[]) => string)];

const beforeUids: readonly Replacement[] = [
  [/^( *)managedFields:\n(?:\1[- ] [^\n]*\n)*/gm, ""],
  [/^ *generation: \d+\n/gm, ""],
];

const afterUids: readonly Replacement[] = [
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, "<time>"],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? \+0000 UTC( m=\S+)?/g, "<time>"],
  [/(resourceVersion"?: "?|"Revision": "|clusterInformationRevision": ")[\d/]+("?)/g, "$1<rv>$2"],
  [/resource version '\d+' is out of date \(latest: \d+\)/g, "resource version '<rv>' is out of date (latest: <rv>)"],
  [/\b[0-9a-f]{32}\b/g, "<guid>"],
  [/(Client Version:|Git commit:)[^\n]*/g, "$1 <version>"],
  [/"version": "[^"]*"/g, '"version": "<version>"'],
  [/"(calico|cattail) ctl/g, '"<prog>'],
  [/\n+(\[signal [^\n]*\n+)?goroutine \d+ .*/gs, "\n<trace>\n"],
  [/\(\*[\w.]+\)\((0x[0-9a-f]+|nil)\)/g, "<pointer>"],
  // The original's order is random.
  [/valid values are: ([^\n]*)/g, (_, values) => `valid values are: ${(values ?? "").split(", ").sort().join(", ")}`],
  // What an API server says about a schema depends on the CRDs that are installed.
  [/(\.crd\.projectcalico\.org "[^"\n]*" is invalid: )[^\n]*?(\]?)$/gm, "$1<details>$2"],
];

/** The UID that Calico shows for a custom resource with this one: the bits of each byte mirrored, but for bytes 6 and 8. */
export function mirrored(text: string): string {
  const bytes = Buffer.from(text.replaceAll("-", ""), "hex");
  const hex = Buffer.from(
    bytes.map((byte, at) =>
      at === 6 || at === 8 ? byte : Number.parseInt([...byte.toString(2).padStart(8, "0")].reverse().join(""), 2),
    ),
  ).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

export class Masks {
  readonly #paths: readonly (readonly [text: string, name: string])[];
  readonly #uids = new Map<string, number>();

  constructor(paths: readonly (readonly [text: string, name: string])[]) {
    this.#paths = paths;
  }

  text(given: string): string {
    let text = given;
    for (const [path, name] of this.#paths) text = text.replaceAll(path, name);
    for (const [pattern, by] of beforeUids) text = replaced(text, pattern, by);
    text = text.replaceAll(uid, (found) => this.#uid(found));
    for (const [pattern, by] of afterUids) text = replaced(text, pattern, by);
    return text;
  }

  value(value: unknown, key = ""): unknown {
    if (Array.isArray(value)) return value.map((each) => this.value(each));
    if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([k, each]) => [k, this.value(each, k)]));
    if (typeof value !== "string") return value;
    return key === "resourceVersion" && value !== "" ? "<rv>" : this.text(value);
  }

  #uid(found: string): string {
    const known = this.#uids.get(found);
    if (known !== undefined) return `<uid-${known}>`;
    const other = this.#uids.get(mirrored(found));
    if (other !== undefined) return `<uid-${other} mirrored>`;
    this.#uids.set(found, this.#uids.size + 1);
    return `<uid-${this.#uids.size}>`;
  }
}

function replaced(text: string, pattern: RegExp, by: Replacement[1]): string {
  return typeof by === "string" ? text.replace(pattern, by) : text.replace(pattern, by);
}

/** The API server's own fields, which the original shows and stores for objects that others made. */
export function withoutBookkeeping(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutBookkeeping);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([name]) => name !== "managedFields" && name !== "generation");
  return Object.fromEntries(kept.map(([name, each]) => [name, withoutBookkeeping(each)]));
}
