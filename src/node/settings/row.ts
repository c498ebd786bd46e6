// One row of the table of FELIX_* settings: what every program's settings have, and two things that only a node's have.
import { parametersWith, type Setting, type SettingType } from "../../base/config/index.ts";

export type NodeSetting<T = unknown> = Setting<T> & {
  /** Only from environment and file: what is needed before the datastore is, and what may not be taken over from there. */
  readonly isLocal: boolean;
  /** A bad value stops the start. Of the others the default is used in its place. */
  readonly isFatal: boolean;
};

type Row<T> = {
  readonly type: SettingType<T>;
  /** Does not say what T is, or one word would be taken for any text. */
  readonly default: NoInfer<T>;
  readonly says: string;
  readonly nonZero?: boolean;
  readonly isLocal?: boolean;
  readonly isFatal?: boolean;
};

/** A row that has no name yet. */
export function row<T>(given: Row<T>): Row<T> {
  return given;
}

const parameter = parametersWith("FELIX_");

/** Rows under one title of help and page. The keys are the original's names, so that none stands twice. */
export function group<Rows extends { readonly [name: string]: Row<unknown> }>(title: string, rows: Rows) {
  const made = Object.entries(rows).map(([name, one]) => [
    name,
    { ...parameter(title, name, one), isLocal: one.isLocal ?? false, isFatal: one.isFatal ?? false },
  ]);
  return Object.fromEntries(made) as { readonly [N in keyof Rows]: NodeSetting<ValueOf<Rows[N]>> }; // each of its row's type
}

type ValueOf<R> = R extends Row<infer T> ? T : never;
