import { ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { serverFlags } from "./server-flags.ts";

test("bin/cattail starts a server with the same flags", () => {
  const program = readFileSync("bin/cattail", "utf8");
  for (const flag of serverFlags) ok(program.includes(`"${flag}"`), flag);
});
