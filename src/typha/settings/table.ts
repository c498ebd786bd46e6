// The one table of Typha's settings. Parsing, help, the reference page and --print-settings are loops over it; the
// program's own type of its settings is derived from it.
import type { ValuesOf } from "../../base/config/index.ts";
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
