import { equal } from "node:assert/strict";
import { test } from "node:test";
import { colouredText, plainLine, plainText } from "./plain-text.ts";

const rows: { given: string; line: string; text?: string }[] = [
  { given: "/calico/v1/config/é-名-😀", line: "/calico/v1/config/é-名-😀" },
  { given: "\u001b[2J", line: "\\u001b[2J" },
  { given: "\u0007 \u0000 \u007f \u009b", line: "\\u0007 \\u0000 \\u007f \\u009b" },
  { given: "\u202eabc\u2028", line: "\\u202eabc\\u2028" },
  { given: "a\r\nb\tc", line: "a\\u000d\\u000ab\\u0009c", text: "a\\u000d\nb\tc" },
];
for (const { given, line, text = line } of rows) {
  test(`${JSON.stringify(given)} is shown as ${line}`, () => {
    equal(plainLine(given), line);
    equal(plainText(given), text);
  });
}

test("a text that is coloured keeps its colours, and nothing else", () => {
  equal(
    colouredText("\u001b[31mDENIED\u001b[0m\n\u001b[8mno\u001b[2J"),
    "\u001b[31mDENIED\u001b[0m\n\\u001b[8mno\\u001b[2J",
  );
});
