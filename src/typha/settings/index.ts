// Typha's settings: one table, read from the environment and the file, explained to whoever asks.
export { type Environment, formatSettings } from "../../base/config/index.ts";
export { datastoreOptions, kubernetesSettings } from "./datastore-options.ts";
export { soundPongTimeoutMs } from "./pong-timeout.ts";
export { type Settings, settingsTable } from "./table.ts";
export {
  defaultConfigFile,
  describeSettings,
  loadSettings,
  type ReadSettings,
  readSettings,
  settingNames,
  settingsHelp,
  settingsPage,
  settingsWith,
} from "./typha-settings.ts";
