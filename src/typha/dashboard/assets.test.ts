import { equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { loadAssets } from "./assets.ts";

const assets = await loadAssets();

test("the page is one document, one script and one style sheet", () => {
  equal([...assets.keys()].join(" "), "/ /page.js /page.css");
  match(new TextDecoder().decode(assets.get("/")?.body), /<html lang="en">/);
});

test("the page is smaller than 150 kB when compressed", () => {
  const bytes = [...assets.values()].reduce((sum, { body }) => sum + gzipSync(body).length, 0);
  ok(bytes > 10_000 && bytes < 150_000, `${bytes} bytes`);
});

test("the page asks for nothing outside and has no code or style in the document", () => {
  const document = new TextDecoder().decode(assets.get("/")?.body);
  for (const forbidden of [/https?:\/\//, /<style/, / style=/, /<script(?![^>]* src=)/, / on\w+=/]) {
    equal(forbidden.test(document), false, String(forbidden));
  }
  equal(/url\(\s*["']?https?:/.test(new TextDecoder().decode(assets.get("/page.css")?.body)), false);
});
