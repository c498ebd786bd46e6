// Typha as a program with settings: its table, the prefix, its file, and the words around them. base/config does the reading.
import {
  type DescribedSetting,
  describeSettings as describe,
  settingsHelp as help,
  type LoadOptions,
  loadSettings as load,
  namesOf,
  type ProgramSettings,
  settingsPage as page,
  type ReadSettings as Read,
  readSettings as read,
  type SettingSources,
  settingsWith as withDefaults,
} from "../../base/config/index.ts";
import { checkTogether, whyUnused } from "./check-together.ts";
import { prefix } from "./original-settings.ts";
import { type SettingName, type Settings, settingsTable } from "./table.ts";

type Table = typeof settingsTable;
export type ReadSettings = Read<Table>;

export const defaultConfigFile = "/etc/calico/typha.cfg";
export const settingNames: readonly SettingName[] = namesOf(settingsTable);

const introduction = `# Settings of \`cattail typha\`

Each setting has a variable name and a name in the configuration file. The names are those of calico/typha, in upper or lower case.

- **Order:** the environment has priority, then the configuration file (\`/etc/calico/typha.cfg\`, or \`--config-file\`), then the default.
- **Empty values:** an empty value means that the setting is not set. \`none\` (in upper or lower case) means an empty text, 0 or false.
- **Check:** \`cattail typha --print-settings\` prints each value and where it comes from.
- **File format:** INI. A line is \`name = value\` or \`name: value\`. \`#\` and \`;\` begin comments. Section names are ignored.

This page is generated from the settings table (\`src/typha/settings\`) by \`npm run docs\`.

Differences from calico/typha:

| case | calico/typha | Cattail |
|---|---|---|
| a value is invalid, or a file does not exist | uses the default, or retries for ever | does not start; one error lists everything that is wrong |
| an unknown \`TYPHA_*\` name | ignored | a warning that suggests the nearest known name; variables that Kubernetes sets for Services are ignored |
| a name in the file with other upper and lower case | has priority over the environment | the environment has priority |
| an incomplete set of TLS settings | does not start | does not start; the error names what is missing |
`;

const program: ProgramSettings<Table> = {
  table: settingsTable,
  prefix,
  configFile: defaultConfigFile,
  groups: [
    { group: "server", title: "Serving clients" },
    { group: "tls", title: "TLS" },
    { group: "datastore", title: "Datastore" },
    { group: "kubernetes", title: "Kubernetes API server" },
    { group: "log", title: "Log" },
    { group: "health and metrics", title: "Probes and metrics" },
    { group: "rebalancing", title: "Rebalancing" },
    { group: "debug", title: "Debugging" },
    { group: "cattail", title: "Cattail's own" },
  ],
  whyUnused,
  checkTogether,
  next: `"cattail typha --help" lists every setting and its allowed values; after the correction, "cattail typha --print-settings" shows all values`,
  introduction,
};

/** Throws one error that lists everything wrong. */
export function loadSettings(options: LoadOptions): ReadSettings {
  return load(program, options);
}

export function readSettings(sources: SettingSources): ReadSettings {
  return read(program, sources);
}

/** A short way to settings for code and tests that have no environment: the defaults, and what is given instead. */
export function settingsWith(given: Partial<Settings> = {}): Settings {
  return withDefaults(settingsTable, given);
}

export function describeSettings(of: Pick<ReadSettings, "values" | "origins">): DescribedSetting[] {
  return describe(settingsTable, of);
}

export function settingsHelp(): string {
  return help(program);
}

export function settingsPage(): string {
  return page(program);
}
