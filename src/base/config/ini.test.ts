import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import { parseIni } from "./ini.ts";

const cases: { name: string; text: string; want: [string, string][] }[] = [
  {
    name: "both delimiters, blanks around",
    text: "A = 1\n  B:2  \nC=x:y=z",
    want: [
      ["A", "1"],
      ["B", "2"],
      ["C", "x:y=z"],
    ],
  },
  { name: "whole-line comments", text: "# A=1\n; B=2\n  # C=3\nD=4", want: [["D", "4"]] },
  {
    name: "a comment needs no blank before it",
    text: "A=x#y\nB=x ; y",
    want: [
      ["A", "x"],
      ["B", "x"],
    ],
  },
  {
    name: "quotes of both kinds go",
    text: "A='x y'\nB=\"x y\"",
    want: [
      ["A", "x y"],
      ["B", "x y"],
    ],
  },
  { name: "quotes do not protect a comment sign", text: 'A="x;y"', want: [["A", '"x']] },
  {
    name: "quotes that do not match stay",
    text: "A=\"x'\nB='",
    want: [
      ["A", "\"x'"],
      ["B", "'"],
    ],
  },
  { name: "a quoted quote keeps its quotes", text: 'A="x"y"', want: [["A", '"x"y"']] },
  { name: "back-ticks keep everything", text: "A=`x;#'y\"`", want: [["A", "x;#'y\""]] },
  {
    name: "back-ticks run over lines",
    text: "A=`x\n# y\n`\nB=1",
    want: [
      ["A", "x\n# y\n"],
      ["B", "1"],
    ],
  },
  {
    name: "triple quotes run over lines",
    text: 'A="""x\ny"""\nB=1',
    want: [
      ["A", "x\ny"],
      ["B", "1"],
    ],
  },
  {
    name: "a backslash goes on in the next line",
    text: "A=x\\\n  y\\\n z\nB=1",
    want: [
      ["A", "xyz"],
      ["B", "1"],
    ],
  },
  { name: "a value of several lines holds comments and quotes", text: "A=x\\\ny # c", want: [["A", "xy # c"]] },
  {
    name: "an empty line ends a value of several lines",
    text: "A='x\\\n\nB=1",
    want: [
      ["A", "'x"],
      ["B", "1"],
    ],
  },
  { name: "a backslash at the end of the file goes", text: "A=x\\", want: [["A", "x"]] },
  {
    name: "back-ticks end at the last of the line",
    text: "A=`x`y` # c\nB=`x\ny`z`\nC=1",
    want: [
      ["A", "x`y"],
      ["B", "x\ny`z"],
      ["C", "1"],
    ],
  },
  {
    name: "a byte order mark and Windows lines",
    text: "\uFEFFA=1\r\nB=2\r\n",
    want: [
      ["A", "1"],
      ["B", "2"],
    ],
  },
  {
    name: "sections mean nothing",
    text: "A=1\n[global]\nB=2\n[ x ] # y",
    want: [
      ["A", "1"],
      ["B", "2"],
    ],
  },
  {
    name: "an empty value",
    text: "A=\nB = # none",
    want: [
      ["A", ""],
      ["B", ""],
    ],
  },
  { name: "nothing is interpolated", text: "A=%(B)s $C", want: [["A", "%(B)s $C"]] },
  {
    name: "the stock file",
    text: "[global]\nMetadataAddr = None\nLogFilePath = None\nLogSeverityFile = None\n",
    want: [
      ["MetadataAddr", "None"],
      ["LogFilePath", "None"],
      ["LogSeverityFile", "None"],
    ],
  },
];
for (const { name, text, want } of cases) {
  test(`file: ${name}`, () => {
    const ini = parseIni(text);
    deepEqual(ini.is === "entries" ? ini.entries.map(({ key, value }) => [key, value]) : ini, want);
  });
}

const broken: { name: string; text: string; why: RegExp }[] = [
  { name: "a line without delimiter", text: "A=1\nServerPort 5473", why: /line 2.*no "=" or ":"/ },
  { name: "an unclosed section", text: "[global\nA=1", why: /line 1.*not closed/ },
  { name: "an empty section name", text: "[ ]", why: /line 1.*no name/ },
  { name: "an empty key", text: "A=1\n\n = 2", why: /line 3.*no name before/ },
  { name: "an unclosed back-tick", text: "A=`x\ny", why: /line 1.*does not end/ },
];
for (const { name, text, why } of broken) {
  test(`file: ${name} breaks the whole file`, () => {
    const ini = parseIni(text);
    match(ini.is === "broken" ? ini.why : "", why);
  });
}
