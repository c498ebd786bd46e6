// What a program brings along to have settings: its table, how it calls them in the environment, its file, and what no
// single setting can say of itself. Reading, help and the reference page are loops over this.
import type { Setting, SettingsTable, ValuesOf } from "./setting.ts";

export type Environment = { readonly [name: string]: string | undefined };

export type ProgramSettings<Table extends SettingsTable> = {
  readonly table: Table;
  /** In front of every parameter's name in the environment: "SERVER_". */
  readonly prefix: string;
  /** Where the configuration file is, unless the user names another. */
  readonly configFile: string;
  /** The table's groups in the order in which help and page show them. */
  readonly groups: readonly { readonly group: string; readonly title: string }[];
  /** Why a setting has no effect beside the others, so that a wrong value of it is only odd; undefined where it has one. */
  whyUnused(name: keyof Table, given: GivenSettings<Table>): string | undefined;
  /** Sets that must be complete, values that follow from others, combinations that cannot have been meant. */
  checkTogether(given: GivenSettings<Table>): CheckedSettings<Table>;
  /** What the user does about settings that are wrong. */
  readonly next: string;
  /** What stands on the reference page above the tables. */
  readonly introduction: string;
};

export type GivenSettings<Table> = {
  readonly settings: ValuesOf<Table>;
  readonly environment: Environment;
  /** Without a value of their own, because the one that was given is wrong. */
  readonly wrong: ReadonlySet<keyof Table>;
};

export type CheckedSettings<Table> = {
  readonly settings: ValuesOf<Table>;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
};

export function namesOf<Table extends SettingsTable>(table: Table): (keyof Table & string)[] {
  return Object.keys(table) as (keyof Table & string)[]; // Object.keys loses the table's literal names
}

/** A row whose own value type does not matter. */
export function rowOf<Table extends SettingsTable>(table: Table, name: keyof Table): Setting {
  return table[name] as Setting; // every row is one; the table's own type is narrower
}

/** The defaults, and what is given instead: for code and tests that have no environment. */
export function settingsWith<Table extends SettingsTable>(
  table: Table,
  given: Partial<ValuesOf<Table>> = {},
): ValuesOf<Table> {
  const defaults = Object.fromEntries(namesOf(table).map((name) => [name, rowOf(table, name).default]));
  return { ...(defaults as ValuesOf<Table>), ...given }; // built from the table that the type is derived from
}
