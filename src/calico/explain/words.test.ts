// Rules in words, where they could be longer than a person reads.
import { equal, match } from "node:assert/strict";
import { test } from "node:test";
import { readRule } from "../policy/index.ts";
import { ruleText } from "./words.ts";

test("a selector of thousands of values is cut, and says how long it is", () => {
  const values = Array.from({ length: 8_000 }, (_, number) => `'v${number}'`);
  const selector = `app in {${values.join(",")}}`;
  const given = { action: "allow", src_selector: selector, orig_src_selector: selector, "!dst_selector": selector };
  const text = ruleText(readRule(given));
  equal(text.length < 800, true, `${text.length} characters`);
  match(text, /^allow from app in \{'v0','v1'.*\.\.\. \(\d{5} characters\) to not app in \{"v0", .* characters\)$/);
});

test("an ordinary selector is there whole", () => {
  equal(ruleText(readRule({ action: "deny", src_selector: "app == 'web'" })), `deny from app == "web"`);
});
