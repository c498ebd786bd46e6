// Settings: a program's table, read from the environment and its file, explained to whoever asks.
export { readConfigFile, unreadableConfigFile } from "./config-file.ts";
export {
  type DescribedSetting,
  describeSettings,
  formatSettings,
  settingsHelp,
  settingsPage,
} from "./describe-settings.ts";
export { parseIni } from "./ini.ts";
export { type LoadOptions, loadSettings } from "./load-settings.ts";
export {
  type CheckedSettings,
  type Environment,
  type GivenSettings,
  namesOf,
  type ProgramSettings,
  settingsWith,
} from "./program-settings.ts";
export { type Origin, type ReadSettings, readSettings, type SettingSources } from "./read-settings.ts";
export { isSecretName } from "./redact.ts";
export { parametersWith, type Setting, type SettingsTable, type ValuesOf, variable } from "./setting.ts";
export * from "./setting-types.ts";
