// A program that is none of ours brings its table, its prefix and its file, and gets reading, help and a page for it.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import {
  bool,
  describeSettings,
  formatSettings,
  integer,
  type ProgramSettings,
  parametersWith,
  readSettings,
  settingsHelp,
  settingsPage,
  settingsWith,
  string,
  variable,
} from "./index.ts";

const parameter = parametersWith("KETTLE_");
const table = {
  litres: parameter("water", "Litres", { type: integer({ min: 1, max: 9 }), default: 2, says: "How much water." }),
  isLoud: parameter("sound", "Whistles", { type: bool, default: false, says: "Whether it whistles." }),
  song: variable("sound", ["SONG"], { type: string, default: "", says: "What it whistles." }),
} as const;

const kettle: ProgramSettings<typeof table> = {
  table,
  prefix: "KETTLE_",
  configFile: "/etc/kettle.cfg",
  groups: [
    { group: "water", title: "Water" },
    { group: "sound", title: "Sound" },
  ],
  whyUnused: (name, { settings }) => (name === "song" && !settings.isLoud ? "it is silent" : undefined),
  checkTogether: ({ settings, wrong }) => ({
    settings: { ...settings, song: settings.isLoud && settings.song === "" ? "tea for two" : settings.song },
    problems: settings.litres > 5 && settings.isLoud && !wrong.has("litres") ? ["a full kettle cannot whistle"] : [],
    warnings: [],
  }),
  next: "Ask the cook",
  introduction: "# Kettle\n",
};

const cases: {
  name: string;
  environment: { [name: string]: string };
  file?: string;
  values?: object;
  problems?: RegExp[];
  warnings?: RegExp[];
}[] = [
  { name: "nothing given", environment: {}, values: { litres: 2, isLoud: false, song: "" } },
  { name: "the environment", environment: { KETTLE_LITRES: "3", SONG: "x" }, values: { litres: 3, song: "x" } },
  { name: "the file", environment: {}, file: "litres = 4", values: { litres: 4 } },
  { name: "the environment wins", environment: { KETTLE_LITRES: "3" }, file: "litres = 4", values: { litres: 3 } },
  { name: "what follows from others", environment: { KETTLE_WHISTLES: "yes" }, values: { song: "tea for two" } },
  { name: "a wrong value", environment: { KETTLE_LITRES: "10" }, problems: [/^KETTLE_LITRES .* out of range$/] },
  {
    name: "values that do not go together",
    environment: { KETTLE_LITRES: "6", KETTLE_WHISTLES: "1" },
    problems: [/full/],
  },
  {
    name: "a wrong value that nobody uses",
    environment: { SONG: "two\nlines" },
    warnings: [/^SONG .*\(it has no effect: it is silent\)$/],
  },
  { name: "a misspelt name", environment: { KETTLE_LITERS: "3" }, warnings: [/did you mean KETTLE_LITRES/] },
  { name: "another program's prefix", environment: { TEAPOT_LITERS: "3" } },
  { name: "a pod's variables of a service", environment: { KETTLE_PORT: "tcp://10.0.0.1:80" } },
];
for (const { name, environment, file, values = {}, problems = [], warnings = [] } of cases) {
  test(`settings of any program: ${name}`, () => {
    const read = readSettings(kettle, {
      environment,
      checks: { exists: () => true },
      ...(file === undefined ? {} : { file: { path: "/etc/kettle.cfg", text: file } }),
    });
    deepEqual({ ...read.values, ...values }, read.values);
    equal(read.problems.length, problems.length, read.problems.join());
    for (const [index, pattern] of problems.entries()) match(read.problems[index] ?? "", pattern);
    equal(read.warnings.length, warnings.length, read.warnings.join());
    for (const [index, pattern] of warnings.entries()) match(read.warnings[index] ?? "", pattern);
  });
}

test("help, page and list are made from the program's table and groups", () => {
  match(settingsHelp(kettle), /^Water:\n {2}KETTLE_LITRES \(2\)\n {6}How much water\.\n\nSound:\n/);
  ok(settingsPage(kettle).startsWith("# Kettle\n"));
  match(settingsPage(kettle), /\| `KETTLE_WHISTLES` \| `Whistles` \|/);
  const values = settingsWith(table, { litres: 7 });
  match(formatSettings(describeSettings(table, { values, origins: new Map() })), /^KETTLE_LITRES +7 {2}\(default\)$/m);
});
