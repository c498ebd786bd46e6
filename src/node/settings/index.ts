// A node's settings: one table of FELIX_*, where they come from, and typed access to what counts now.
export { nodeDatastoreOptions } from "./datastore-options.ts";
export { DatastoreSource } from "./datastore-source.ts";
export { NodeLiveSettings } from "./live-settings.ts";
export { defaultConfigFile, readLocalSources } from "./local-sources.ts";
export { formatNodeSettings, nodeSettingsPage } from "./page.ts";
export type { SourceName } from "./resolve.ts";
export { type NodeSettings, type SettingName, settingsTable } from "./table.ts";
export { felixSettings, settingValue, type TypedSettings } from "./typed.ts";
export type { FailsafePort, NumberRange } from "./value-types.ts";
export { withoutEffect } from "./without-effect.ts";
