// The one table of a node's FELIX_* settings. Reading, typed access, help and the reference page are loops over it.
import type { ValuesOf } from "../../base/config/index.ts";
import {
  auditSettings,
  clusterSettings,
  datastoreSettings,
  healthSettings,
  identitySettings,
  logSettings,
  typhaSettings,
} from "./agent-settings.ts";
import {
  interfaceSettings,
  iptablesSettings,
  policySettings,
  routeSettings,
  tunnelSettings,
} from "./network-settings.ts";
import type { NodeSetting } from "./row.ts";

export const settingsTable = {
  ...identitySettings,
  ...typhaSettings,
  ...datastoreSettings,
  ...logSettings,
  ...healthSettings,
  ...interfaceSettings,
  ...policySettings,
  ...routeSettings,
  ...tunnelSettings,
  ...auditSettings,
  ...iptablesSettings,
  ...clusterSettings,
} as const;

export type SettingName = keyof typeof settingsTable;
export type NodeSettings = ValuesOf<typeof settingsTable>;

const byName: ReadonlyMap<string, SettingName> = new Map(
  (Object.keys(settingsTable) as SettingName[]).map((name) => [name.toLowerCase(), name]), // Object.keys loses the names
);

/** In the spelling of the table; undefined for what is none of its settings. */
export function knownName(name: string): SettingName | undefined {
  return byName.get(name.toLowerCase());
}

/** A row whose own value type does not matter. */
export function rowOf(name: SettingName): NodeSetting {
  return settingsTable[name] as NodeSetting; // every row is one; the table's own type is narrower
}
