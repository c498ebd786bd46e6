// Reads the environment by the table, and finds the one node that this is. What no step can use (a port that is none) stops the start; for the rest
// the steps speak.
import {
  type Environment,
  type Origin,
  type ProgramSettings,
  readSettings,
  settingsPage,
} from "../../../base/config/index.ts";
import { CattailError } from "../../../base/lib/index.ts";
import { type NodeSettingName, type NodeSettings, settingsTable } from "./table.ts";

export type ReadNodeSettings = {
  readonly values: NodeSettings;
  readonly origins: ReadonlyMap<NodeSettingName, Origin>;
};

const program: ProgramSettings<typeof settingsTable> = {
  table: settingsTable,
  prefix: "CALICO_STARTUP_", // no parameters, only variables: nothing is warned about by its prefix but this
  configFile: "",
  groups: [
    { group: "node", title: "The node" },
    { group: "address", title: "Address and AS number" },
    { group: "pools", title: "Default pools and tunnels" },
    { group: "datastore", title: "Waiting" },
    { group: "health", title: "Health" },
  ],
  whyUnused: () => undefined,
  checkTogether: ({ settings }) => ({ settings, problems: [], warnings: [] }),
  next: "Correct the variables of the calico-node container",
  introduction: "",
};

export function readNodeSettings(environment: Environment): ReadNodeSettings {
  const { values, origins, problems } = readSettings(program, { environment, checks: { exists: () => true } });
  if (problems.length === 0) return { values, origins };
  throw new CattailError("NODE_SETTINGS_INVALID", { problem: problems.join("; "), next: program.next });
}

/** The tables of docs/reference/node-startup.md. */
export function nodeSettingsTables(): string {
  return settingsPage(program).trim();
}
