import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { DemoScreen } from "./demo-screen.ts";

test("what the server warns of is shown, connections' numbers included", () => {
  const written: string[] = [];
  const out = { isTTY: false, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream; // all it uses
  new DemoScreen(out).log.warn("client is far behind", { connection: 18_446_744_073_709_551_615n, lagMs: 5 });
  deepEqual(written, ['client is far behind {"connection":"18446744073709551615","lagMs":5}\n']);
});
