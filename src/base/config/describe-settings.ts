// The settings as people meet them: the list of --print-settings, the help text and the reference page. All three are
// loops over the table.
import { namesOf, type ProgramSettings, rowOf } from "./program-settings.ts";
import type { Origin, ReadSettings } from "./read-settings.ts";
import { isSecretName, redacted } from "./redact.ts";
import type { Setting, SettingsTable } from "./setting.ts";

export type DescribedSetting = {
  readonly name: string;
  readonly value: string;
  readonly origin: Origin;
  readonly isSecret: boolean;
};

/** Every setting with its value in effect and where that came from. Secrets are not shown. */
export function describeSettings<Table extends SettingsTable>(
  table: Table,
  read: Pick<ReadSettings<Table>, "values" | "origins">,
): DescribedSetting[] {
  return namesOf(table).map((key) => {
    const setting = rowOf(table, key);
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

type Described = Pick<ProgramSettings<SettingsTable>, "table" | "groups" | "introduction">;

export function settingsHelp({ table, groups }: Described): string {
  return groups
    .map(({ group, title }) => {
      const rows = settingsIn(table, group).map((setting) => {
        const shown = showDefault(setting);
        return `  ${setting.env.at(-1)}${shown === "" ? "" : ` (${shown})`}\n      ${setting.says}`;
      });
      return `${title}:\n${rows.join("\n")}`;
    })
    .join("\n\n");
}

export function settingsPage({ table, groups, introduction }: Described): string {
  const sections = groups.map(({ group, title }) => {
    const rows = settingsIn(table, group).map((setting) => {
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

function settingsIn(table: SettingsTable, group: string): Setting[] {
  return Object.values(table).filter((setting) => setting.group === group);
}

function showDefault(setting: Setting): string {
  return setting.type.show(setting.default);
}
