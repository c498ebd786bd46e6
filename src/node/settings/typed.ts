// Typed access to settings: a part asks by the original's name and gets the value of the table's type. Durations are milliseconds.
import type { TypeChecks } from "../../base/config/index.ts";
import type { LiveSettings } from "../part/index.ts";
import { readText } from "./resolve.ts";
import { type NodeSettings, rowOf, type SettingName } from "./table.ts";

export type TypedSettings = {
  value<N extends SettingName>(name: N): NodeSettings[N];
  /** Called after one of these values has changed. */
  onChange(names: readonly SettingName[], listener: (changed: readonly SettingName[]) => void): Disposable;
};

// Files are looked at by whoever opens them: that one is missing is no matter of its name.
const checks: TypeChecks = { exists: () => true };

/** Over any settings that give raw text, such as a test's. */
export function felixSettings(live: LiveSettings): TypedSettings {
  const read = new Map<SettingName, { text: string; value: unknown }>();
  return {
    value<N extends SettingName>(name: N): NodeSettings[N] {
      const text = live.raw(name);
      if (text === undefined) return rowOf(name).default as NodeSettings[N]; // the row is where the type comes from
      let known = read.get(name);
      if (known?.text !== text) {
        known = { text, value: readText(name, text, checks).value };
        read.set(name, known);
      }
      return known.value as NodeSettings[N]; // as above
    },
    onChange(names, listener) {
      return live.onChange((changed) => {
        const ours = names.filter((name) => changed.includes(name));
        if (ours.length > 0) listener(ours);
      });
    },
  };
}

/** One of them, as it is now. */
export function settingValue<N extends SettingName>(live: Pick<LiveSettings, "raw">, name: N): NodeSettings[N] {
  const text = live.raw(name);
  return (text === undefined ? rowOf(name).default : readText(name, text, checks).value) as NodeSettings[N]; // as above
}
