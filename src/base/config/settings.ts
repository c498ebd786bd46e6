// The one settings table. Parsing, help, the reference page and --print-settings are loops over it; the program's own
// type of its settings is derived from it.
import { cattailSettings, datastoreSettings, kubernetesSettings } from "./cattail-settings.ts";
import {
  debugSettings,
  etcdSettings,
  logSettings,
  observeSettings,
  rebalancingSettings,
  serverSettings,
  tlsSettings,
} from "./original-settings.ts";
import type { ValuesOf } from "./setting.ts";

export const settingsTable = {
  ...serverSettings,
  ...tlsSettings,
  ...datastoreSettings,
  ...etcdSettings,
  ...kubernetesSettings,
  ...logSettings,
  ...observeSettings,
  ...rebalancingSettings,
  ...debugSettings,
  ...cattailSettings,
} as const;

export type SettingName = keyof typeof settingsTable;
export type Settings = ValuesOf<typeof settingsTable>;

export const settingNames = Object.keys(settingsTable) as SettingName[]; // Object.keys loses the table's literal names

/** A short way to settings for code and tests that have no environment: the defaults, and what is given instead. */
export function settingsWith(given: Partial<Settings> = {}): Settings {
  const defaults = Object.fromEntries(settingNames.map((name) => [name, settingsTable[name].default]));
  return { ...(defaults as Settings), ...given }; // built from the table that the type is derived from
}
