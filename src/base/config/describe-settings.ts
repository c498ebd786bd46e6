// The settings as people meet them: the list of --print-settings, the help text and the reference page. All three are
// loops over the table.
import type { Origin, ReadSettings } from "./read-settings.ts";
import { isSecretName, redacted } from "./redact.ts";
import type { Setting, SettingGroup } from "./setting.ts";
import { settingNames, settingsTable } from "./settings.ts";

export type DescribedSetting = {
  readonly name: string;
  readonly value: string;
  readonly origin: Origin;
  readonly isSecret: boolean;
};

/** Every setting with its value in effect and where that came from. Secrets are not shown. */
export function describeSettings(read: Pick<ReadSettings, "values" | "origins">): DescribedSetting[] {
  return settingNames.map((key) => {
    const setting = settingsTable[key] as Setting; // the row's own value type does not matter here
    const name = setting.env[0] ?? key;
    const value = setting.type.show(read.values[key]);
    const isSecret = isSecretName(name);
    const origin = read.origins.get(key) ?? { from: "default" };
    return { name, value: isSecret && value !== "" ? redacted : value, origin, isSecret };
  });
}

/** One line for each setting, in columns: those that were set first, as they are what one looks for. */
export function formatSettings(described: readonly DescribedSetting[]): string {
  const width = Math.max(...described.map(({ name }) => name.length));
  const isSet = ({ origin }: DescribedSetting) => origin.from !== "default";
  return [...described.filter(isSet), ...described.filter((one) => !isSet(one))]
    .map((one) => `${one.name.padEnd(width)}  ${one.value === "" ? '""' : one.value}  (${originText(one)})`)
    .join("\n");
}

function originText({ name, origin }: DescribedSetting): string {
  switch (origin.from) {
    case "default":
      return "default";
    case "environment":
      return origin.name === name ? "environment" : `environment, as ${origin.name}`;
    case "file":
      return `${origin.path}, line ${origin.line}`;
  }
}

const groups: { group: SettingGroup; title: string }[] = [
  { group: "server", title: "Serving clients" },
  { group: "tls", title: "TLS" },
  { group: "datastore", title: "Datastore" },
  { group: "kubernetes", title: "Kubernetes API server" },
  { group: "log", title: "Log" },
  { group: "health and metrics", title: "Probes and metrics" },
  { group: "rebalancing", title: "Rebalancing" },
  { group: "debug", title: "Debugging" },
  { group: "cattail", title: "Cattail's own" },
];

export function settingsHelp(): string {
  return groups
    .map(({ group, title }) => {
      const rows = settingsIn(group).map((setting) => {
        const shown = showDefault(setting);
        return `  ${setting.env.at(-1)}${shown === "" ? "" : ` (${shown})`}\n      ${setting.says}`;
      });
      return `${title}:\n${rows.join("\n")}`;
    })
    .join("\n\n");
}

export function settingsPage(): string {
  const sections = groups.map(({ group, title }) => {
    const rows = settingsIn(group).map((setting) => {
      const names = setting.env.map((name) => `\`${name}\``).join(" or ");
      const fileKey = setting.fileKey === undefined ? "–" : `\`${setting.fileKey}\``;
      const shown = showDefault(setting);
      return `| ${names} | ${fileKey} | ${setting.type.allowed} | ${shown === "" ? "empty" : `\`${shown}\``} | ${setting.says} |`;
    });
    return [
      `## ${title}`,
      "",
      "| variable | in the file | must be | default | what it does |",
      "|---|---|---|---|---|",
      ...rows,
    ].join("\n");
  });
  return `${introduction}\n${sections.join("\n\n")}\n`;
}

function settingsIn(group: SettingGroup): Setting[] {
  return settingNames.map((name) => settingsTable[name] as Setting).filter((setting) => setting.group === group); // as above
}

function showDefault(setting: Setting): string {
  return setting.type.show(setting.default);
}

const introduction = `# Settings of \`cattail typha\`

Each setting has a variable name and a name in the configuration file. The names are those of calico/typha, in upper or lower case.

- **Order:** the environment has priority, then the configuration file (\`/etc/calico/typha.cfg\`, or \`--config-file\`), then the default.
- **Empty values:** an empty value means that the setting is not set. \`none\` (in upper or lower case) means an empty text, 0 or false.
- **Check:** \`cattail typha --print-settings\` prints each value and where it comes from.
- **File format:** INI. A line is \`name = value\` or \`name: value\`. \`#\` and \`;\` begin comments. Section names are ignored.

This page is generated from the settings table (\`src/base/config\`) by \`npm run docs\`.

Differences from calico/typha:

| case | calico/typha | Cattail |
|---|---|---|
| a value is invalid, or a file does not exist | uses the default, or retries for ever | does not start; one error lists everything that is wrong |
| an unknown \`TYPHA_*\` name | ignored | a warning that suggests the nearest known name; variables that Kubernetes sets for Services are ignored |
| a name in the file with other upper and lower case | has priority over the environment | the environment has priority |
| an incomplete set of TLS settings | does not start | does not start; the error names what is missing |
`;
