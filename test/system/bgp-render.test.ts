// What is written, read by real BIRDs: everything that can be asked for at once, and objects whose texts would break out of the configuration if they
// could. BIRD 1.6 is asked where CATTAIL_TEST_BIRD16 is the folder of its programs (bird, bird6).
import { equal, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import type { ConfigurationFiles } from "../../src/node/bird/render/render.ts";
import { noBird } from "../kit/bgp/daemon.ts";
import { everything, type Objects, render } from "../kit/bgp/everything.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-bgp-render-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const older = process.env.CATTAIL_TEST_BIRD16 ?? "";
const noOlder =
  older !== "" && existsSync(join(older, "bird"))
    ? false
    : "needs BIRD 1.6: CATTAIL_TEST_BIRD16 is not the folder of its programs";

function parses(program: string, text: string): string {
  const file = join(folder, "bird.cfg");
  writeFileSync(file, text);
  try {
    execFileSync(program, ["-p", "-c", file], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    return "";
  } catch (error) {
    return String((error as { stderr?: string }).stderr);
  }
}

test("BIRD 2 reads everything at once", { skip: noBird }, () => {
  const text = render(everything, 2)["bird.cfg"] ?? "";
  for (const name of [
    "Node_10_0_0_2_port_1790",
    "Global_10_0_0_201_port_1799",
    "Global_fd00__201",
    "Local_Workload_10_244_1_9",
    "Local_Workload_fd44__1_9",
  ]) {
    ok(text.includes(`protocol bgp ${name} {`), name);
  }
  equal(parses("bird", text), "");
});

test("BIRD 1.6 reads everything at once", { skip: noOlder }, () => {
  const files = render(everything, 1);
  equal(parses(join(older, "bird"), files["bird.cfg"] ?? ""), "");
  equal(parses(join(older, "bird6"), files["bird6.cfg"] ?? ""), "");
});

/** Every text of an object, one after the other, is one that would end a string, a name or a line. */
function withText(value: unknown, at: { left: number }, text: string): unknown {
  if (typeof value === "string") {
    at.left -= 1;
    return at.left === -1 ? text : value;
  }
  if (Array.isArray(value)) return value.map((each) => withText(each, at, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withText(each, at, text)]));
}

const breaker = fc.constantFrom(
  'x"; hostile; "',
  "x'; hostile; '",
  "hostile\n",
  "10.0.0.9; hostile",
  "10.244.0.0/16 then { hostile; }",
  "1:2); hostile",
  "} hostile {",
  "/* hostile",
  "# hostile",
);

test("no text of an object gets into the configuration, and BIRD reads what is written", { skip: noBird }, () => {
  fc.assert(
    fc.property(fc.nat(120), breaker, (at, text) => {
      const broken = withText(everything, { left: at }, text) as Objects; // of an object comes an object
      const written = Object.values(withNode(broken)).join("\n");
      equal(written.includes("hostile"), false, `text ${at} as ${JSON.stringify(text)}`);
      equal(parses("bird", withNode(broken)["bird.cfg"] ?? ""), "", `text ${at} as ${JSON.stringify(text)}`);
    }),
    { numRuns: 60 },
  );
});

/** A node whose own address is broken has nothing to write: then there is nothing to look at. */
function withNode(given: Objects): ConfigurationFiles {
  try {
    return render(given, 2);
  } catch {
    return render(everything, 2);
  }
}
