// No connection of ours trusts whoever answers, but where somebody asked for it or nothing is told to the other end.
import { deepEqual } from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

const forbidden: { name: string; pattern: RegExp; but: string[] }[] = [
  {
    name: "certificates are checked",
    pattern: /rejectUnauthorized:\s*false/,
    // Looks at the certificate itself, to tell every reason, and says nothing to a server that is found wanting.
    but: ["src/programs/doctor/servers/open-connection.ts"],
  },
  { name: "the environment cannot switch checks off", pattern: /NODE_TLS_REJECT_UNAUTHORIZED/, but: [] },
  {
    name: "no server names, protocols or shared keys are looked up in a callback",
    pattern: /\b(SNICallback|ALPNCallback|pskCallback)\b/,
    but: [],
  },
];

for (const { name, pattern, but } of forbidden) {
  test(`${name}: ${pattern.source} is only in ${but.length === 0 ? "no file" : but.join(", ")}`, () => {
    const files = globSync("src/**/*.ts").filter((file) => !file.endsWith(".test.ts"));
    const found = files.filter((file) =>
      pattern.test(readFileSync(file, "utf8").replaceAll(/^\s*(\/\/|\/?\*).*$/gm, "")),
    );
    deepEqual(found, but);
  });
}
