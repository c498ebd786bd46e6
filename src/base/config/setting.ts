// One row of the settings table, and what the program's types make of a table of them.
import type { SettingType } from "./setting-types.ts";

export type Setting<T = unknown> = {
  /** Where it can be set, highest first: an environment variable's names. */
  readonly env: readonly string[];
  /** Its key in the configuration file; undefined for what the file cannot set. */
  readonly fileKey: string | undefined;
  readonly type: SettingType<T>;
  readonly default: T;
  readonly says: string;
  /** Under which title help and page show it. */
  readonly group: string;
  /** `none` is refused. */
  readonly nonZero: boolean;
  /** What stands in for a value of 0 or less, as `none` gives. */
  readonly whenNotPositive: T | undefined;
  /** A variable that is set to "" counts as set, as the original's datastore loader has it. */
  readonly emptyCounts: boolean;
};

export type SettingsTable = { readonly [name: string]: Setting };

/** The values a table's rows read into. */
export type ValuesOf<Table> = { readonly [Name in keyof Table]: Table[Name] extends Setting<infer T> ? T : never };

type Options<T> = { nonZero?: boolean; whenNotPositive?: NoInfer<T> };

/** What makes a program's parameters: in the environment its prefix and the name in capitals, in the file the name. */
export function parametersWith(prefix: string) {
  return <T>(
    group: string,
    name: string,
    row: { type: SettingType<T>; default: NoInfer<T>; says: string } & Options<T>,
  ): Setting<T> => ({
    env: [`${prefix}${name.toUpperCase()}`],
    fileKey: name,
    type: row.type,
    default: row.default,
    says: row.says,
    group,
    nonZero: row.nonZero ?? false,
    whenNotPositive: row.whenNotPositive,
    emptyCounts: false,
  });
}

/** A variable that only the environment has, under exactly these names. */
export function variable<T>(
  group: string,
  env: readonly string[],
  row: { type: SettingType<T>; default: NoInfer<T>; says: string; emptyCounts?: boolean },
): Setting<T> {
  return {
    env,
    fileKey: undefined,
    type: row.type,
    default: row.default,
    says: row.says,
    group,
    nonZero: false,
    whenNotPositive: undefined,
    emptyCounts: row.emptyCounts ?? false,
  };
}
