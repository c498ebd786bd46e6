// Which source wins, name by name: environment, file, FelixConfiguration of the node, of a selector that fits, of the cluster, default. A
// value that does not parse is the default with its source's rank: a weaker source does not get its turn, or a slip in one place would
// bring back what somebody wrote elsewhere long ago.
import type { TypeChecks } from "../../base/config/index.ts";
import { nearest } from "../../base/lib/index.ts";
import { knownName, rowOf, type SettingName, settingsTable } from "./table.ts";
import { isMissed, unsupported } from "./unsupported.ts";
import { whyInVain } from "./without-effect.ts";

const sourceNames = ["environment", "file", "node", "selector", "cluster"] as const;
export type SourceName = (typeof sourceNames)[number];

/** What one source says: texts by name, in any case. */
export type Source = { readonly [name: string]: string };
export type Sources = { readonly [S in SourceName]?: Source };

/** The value of one setting, and who said it. Without `from` it is the default, because nobody did. */
export type Resolved = { readonly text: string | undefined; readonly value: unknown; readonly from?: SourceName };

export type Resolution = {
  readonly settings: ReadonlyMap<SettingName, Resolved>;
  /** Texts of names that are none of ours, strongest source first. */
  readonly unknown: ReadonlyMap<string, string>;
  /** Bad values of settings that have no safe default. */
  readonly fatal: readonly Complaint[];
  readonly warnings: readonly Complaint[];
};

export type Complaint = { readonly name: string; readonly from: SourceName; readonly says: string };

export function resolve(sources: Sources, checks: TypeChecks): Resolution {
  const settings = new Map<SettingName, Resolved>();
  const unknown = new Map<string, string>();
  const fatal: Complaint[] = [];
  const warnings: Complaint[] = [];
  for (const from of sourceNames) {
    for (const [written, text] of Object.entries(sources[from] ?? {})) {
      if (text === "") continue; // manifests have variables that nobody has filled in: `none` is the word for an empty value
      const name = knownName(written);
      if (name === undefined) {
        if (!unknown.has(written.toLowerCase())) unknown.set(written.toLowerCase(), text);
        const says = complaintOfUnknown(written, text, from);
        if (says !== undefined) warnings.push({ name: written, from, says });
        continue;
      }
      const { isLocal, isFatal, nonZero } = rowOf(name);
      if (isLocal && from !== "environment" && from !== "file") {
        warnings.push({ name, from, says: `${name} counts only from the environment and the file: ignored` });
        continue;
      }
      const read = readText(name, text, checks);
      const stops = isFatal || (nonZero && text.toLowerCase() === "none");
      if (read.problem !== undefined) (stops ? fatal : warnings).push({ name, from, says: read.problem });
      const vain = read.problem === undefined ? complaintOfVain(name, read) : undefined;
      if (vain !== undefined) warnings.push({ name, from, says: vain });
      if (!settings.has(name)) settings.set(name, { text: read.text, value: read.value, from });
    }
  }
  return { settings, unknown, fatal, warnings };
}

type Read = { readonly text: string | undefined; readonly value: unknown; readonly problem?: string };

/** The value of a text, or the default and why. */
export function readText(name: SettingName, text: string, checks: TypeChecks): Read {
  const { type, nonZero, default: whenNone } = rowOf(name);
  if (text.toLowerCase() === "none" && !type.allowed.startsWith("one of")) return readNone(name, text);
  const parsed = type.parse(text, checks);
  if (parsed.ok) return { text, value: parsed.value };
  if (text.toLowerCase() === "none" && !nonZero) return { text, value: type.zero };
  const shown = JSON.stringify(text.slice(0, 256));
  const problem = `${name} is ${shown}, but must be ${type.allowed}: ${parsed.why}; the default counts (${type.show(whenNone) || "empty"})`;
  return { text: undefined, value: whenNone, problem };
}

function readNone(name: SettingName, text: string): Read {
  const { type, nonZero, default: whenNone } = rowOf(name);
  if (!nonZero) return { text, value: type.zero };
  return { text: undefined, value: whenNone, problem: `${name} is none, but it must have a value: ${type.allowed}` };
}

/** A setting that nothing uses, and that somebody has set to something else than it is anyhow. */
function complaintOfVain(name: SettingName, { text, value }: Read): string | undefined {
  const why = whyInVain(name);
  const { type, default: usual } = rowOf(name);
  if (why === undefined || text === undefined || type.show(value) === type.show(usual)) return undefined;
  return `${name} is ${JSON.stringify(text.slice(0, 256))}, and has no effect: ${why}`;
}

const ownNames = Object.keys(settingsTable);

/** Unknown names from the datastore are told as well: an annotation with a slip has no effect, either. */
function complaintOfUnknown(name: string, text: string, from: SourceName): string | undefined {
  const known = unsupported.get(name.toLowerCase());
  if (known !== undefined)
    return isMissed(name, text)
      ? `${known.name} is ${JSON.stringify(text.slice(0, 256))}, and Cattail has not what it asks for: no effect`
      : undefined;
  const lower = name.toLowerCase();
  const near = nearest(
    lower,
    ownNames.map((one) => one.toLowerCase()),
  );
  const meant =
    near === undefined
      ? ""
      : `; did you mean ${from === "environment" ? `FELIX_${near.toUpperCase()}` : knownName(near)}?`;
  return `${JSON.stringify(name.slice(0, 256))} is not a setting and has no effect${meant}`;
}
