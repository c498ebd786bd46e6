// A node's settings while it runs: what the environment and the file say, which stays, and what the datastore says, which changes.
import type { TypeChecks } from "../../base/config/index.ts";
import { CattailError, type Log } from "../../base/lib/index.ts";
import type { LiveSettings } from "../part/index.ts";
import {
  type Complaint,
  type Resolution,
  type Resolved,
  resolve,
  type Source,
  type SourceName,
  type Sources,
} from "./resolve.ts";
import { knownName, type SettingName } from "./table.ts";

export type LocalSources = { readonly environment: Source; readonly file: Source };

export class NodeLiveSettings implements LiveSettings {
  readonly #local: LocalSources;
  readonly #checks: TypeChecks;
  readonly #log: Log;
  readonly #listeners = new Set<(names: readonly string[]) => void>();
  readonly #told = new Set<string>();
  #now: Resolution;
  /** What settings without a safe default had before somebody broke them. */
  #kept = new Map<SettingName, Resolved>();
  #problems: readonly string[] = [];

  /** Throws one error that lists every bad value that has no safe default. */
  constructor(local: LocalSources, options: { readonly checks: TypeChecks; readonly log: Log }) {
    this.#local = local;
    this.#checks = options.checks;
    this.#log = options.log;
    this.#now = resolve(local, options.checks);
    if (this.#now.fatal.length > 0) throw refused(this.#now.fatal);
    this.#complain(this.#now.warnings);
  }

  raw(name: string): string | undefined {
    const known = knownName(name);
    return known === undefined ? this.#now.unknown.get(name.toLowerCase()) : this.#resolved(known)?.text;
  }

  /** Who said it; undefined: nobody, it is the default. */
  sourceOf(name: SettingName): SourceName | undefined {
    return this.#resolved(name)?.from;
  }

  /** What is wrong with the datastore's settings so that the value before it stays: for health. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  onChange(listener: (names: readonly string[]) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /**
   * The datastore's settings are these now. A bad value of a setting without a safe default leaves the value that was in force: an agent
   * that ended, as the original does, would let nobody mend anything on its node.
   */
  setDatastore(datastore: Pick<Sources, "node" | "selector" | "cluster">): void {
    const before = new Map([...this.#now.settings.keys()].map((name) => [name, this.#resolved(name)]));
    const now = resolve({ ...datastore, ...this.#local }, this.#checks);
    const broken = now.fatal.filter(({ name, from }) => now.settings.get(name as SettingName)?.from === from);
    this.#kept = new Map(broken.map(({ name }) => [name as SettingName, before.get(name as SettingName) ?? nobody]));
    this.#now = now;
    this.#problems = now.fatal.map(({ says, from }) => `${says} (${sourceText(from)}); the value before it stays`);
    this.#complain([...now.warnings, ...now.fatal]);
    const names = new Set([...before.keys(), ...now.settings.keys()]);
    const changed = [...names].filter((name) => before.get(name)?.text !== this.#resolved(name)?.text);
    if (changed.length === 0) return;
    this.#log.info("Settings changed", { names: changed.join(", ") });
    for (const listener of [...this.#listeners]) listener(changed);
  }

  #resolved(name: SettingName): Resolved | undefined {
    return this.#kept.get(name) ?? this.#now.settings.get(name);
  }

  /** Each once: the datastore's are read again with every change. */
  #complain(complaints: readonly Complaint[]): void {
    for (const { says, from } of complaints) {
      const line = `${from} ${says}`;
      if (this.#told.has(line)) continue;
      if (this.#told.size < 1000) this.#told.add(line);
      this.#log.warn("Setting", { problem: says, from: sourceText(from) });
    }
  }
}

const nobody: Resolved = { text: undefined, value: undefined };

function sourceText(from: SourceName): string {
  const texts: { readonly [S in SourceName]: string } = {
    environment: "environment",
    file: "file",
    node: "FelixConfiguration of this node",
    selector: "FelixConfiguration that selects this node",
    cluster: "FelixConfiguration default",
  };
  return texts[from];
}

function refused(fatal: readonly Complaint[]): CattailError {
  const lines = fatal.map(({ says, from }) => `${says} (${sourceText(from)})`);
  return new CattailError("SETTINGS_INVALID", {
    problem:
      lines.length === 1
        ? `a setting is wrong: ${lines[0]}`
        : `${lines.length} settings are wrong:\n  - ${lines.join("\n  - ")}`,
    next: `Correct it; "cattail node felix --print-settings" shows all values and where they come from`,
  });
}
