// Settings: one table, read from the environment and the file, explained to whoever asks.
export { describeSettings, formatSettings, settingsHelp, settingsPage } from "./describe-settings.ts";
export { defaultConfigFile, loadSettings } from "./load-settings.ts";
export { type Environment, type Origin, type ReadSettings, readSettings } from "./read-settings.ts";
export { type Settings, settingNames, settingsTable, settingsWith } from "./settings.ts";
