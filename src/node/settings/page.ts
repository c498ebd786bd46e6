// The settings as people meet them: the list of --print-settings and the reference page. Both are loops over the table.
import { isSecretName, settingsPage as page } from "../../base/config/index.ts";
import type { NodeLiveSettings } from "./live-settings.ts";
import { defaultConfigFile } from "./local-sources.ts";
import { rowOf, type SettingName, settingsTable } from "./table.ts";
import { felixSettings } from "./typed.ts";
import { unsupported } from "./unsupported.ts";
import { withoutEffect } from "./without-effect.ts";

const introduction = `# Settings of the agent (\`FELIX_*\`)

\`cattail node run\` and \`cattail node felix\` read every setting below; the names are Felix's, in upper or lower case. The variables of start-up (\`IP\`, \`CALICO_IPV4POOL_CIDR\` and so on) are on
[their own page](node-startup.md).

- **Order:** the environment has priority, then the file (\`${defaultConfigFile}\`, or \`--config-file\`), then the FelixConfiguration \`node.NAME\`, then the oldest FelixConfiguration whose \`nodeSelector\` selects
  the node, then the FelixConfiguration \`default\`, then the default below. Each name is decided by itself. Settings marked *local* count from the environment and the file only.
- **Changes** of a FelixConfiguration are applied while the agent runs. It does not restart, as Felix does (exit code 129). What is local needs a restart.
- **\`none\`** (in upper or lower case) means an empty text, an empty list, 0 or false, which is often not the default. An empty value means that the setting is not set.
- **Durations** are seconds. In a FelixConfiguration they have a unit, such as \`90s\`.
- **A value that is invalid** is logged, and the default is used; a weaker source does not get its turn. For settings marked *strict* an invalid value in the environment or the file stops the start. In a
  FelixConfiguration it leaves the value before it in force, and the agent says so and is not ready (Felix exits).
- **An unknown name** has no effect. It is logged once, with the nearest known name.
- **Settings of Cattail only** can be set for the cluster with an annotation of a FelixConfiguration: \`config.projectcalico.org/IPAMAuditInterval: "3600"\`.
- **Check:** \`cattail node felix --print-settings\` prints each value of environment and file, and where it comes from.

This page is generated from the table in \`src/node/settings\` by \`npm run docs\`.
`;

export function nodeSettingsPage(): string {
  const titles = [...new Set(Object.values(settingsTable).map(({ group }) => group))];
  const all = Object.keys(settingsTable) as SettingName[]; // the table's own keys
  const table = Object.fromEntries(all.map((name) => [name, { ...rowOf(name), says: saysOf(name) }]));
  const groups = titles.map((title) => ({ group: title, title }));
  const names = [...unsupported.values()].map(({ name }) => `\`${name}\``);
  return `${page({ table, groups, introduction })}
## Settings of Felix without effect here

Cattail has no eBPF, no XDP, no WireGuard, no flow logs and no Istio support. One of these that is set to anything but Felix's default is logged once: ${names.join(", ")}.
`;
}

function saysOf(name: SettingName): string {
  const { says, isLocal, isFatal } = rowOf(name);
  const marks = [...(isLocal ? ["*local*"] : []), ...(isFatal ? ["*strict*"] : [])];
  const why = withoutEffect[name];
  const whole =
    why === undefined ? says : says === "No effect." ? `**No effect**: ${why}.` : `${says} **No effect**: ${why}.`;
  return marks.length === 0 ? whole : `${whole} (${marks.join(", ")})`;
}

/** One line for each setting: those that somebody has set first, as they are what one looks for. */
export function formatNodeSettings(live: NodeLiveSettings): string {
  const typed = felixSettings(live);
  const names = Object.keys(settingsTable) as SettingName[]; // the table's own keys
  const width = Math.max(...names.map((name) => name.length)) + "FELIX_".length;
  const lines = names.map((name) => {
    const shown = rowOf(name).type.show(typed.value(name));
    const value = isSecretName(name) && shown !== "" ? "<redacted>" : shown;
    const from = live.sourceOf(name);
    return {
      isSet: from !== undefined,
      line: `${`FELIX_${name.toUpperCase()}`.padEnd(width)}  ${value === "" ? '""' : value}  (${from ?? "default"})`,
    };
  });
  return [...lines.filter(({ isSet }) => isSet), ...lines.filter(({ isSet }) => !isSet)]
    .map(({ line }) => line)
    .join("\n");
}
