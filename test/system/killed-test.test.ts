// A test that is killed leaves no network namespace behind.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { namespaceNames } from "../../src/base/linux/kernel.ts";
import { eventually } from "../kit/eventually.ts";
import { noNamespaces } from "../kit/namespace.ts";

test("network namespaces go with the process that made them, also by SIGKILL", { skip: noNamespaces }, async (t) => {
  const program =
    'import { freshNamespace } from "./test/kit/namespace.ts"; console.log(freshNamespace().name); setInterval(() => {}, 1000);';
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const [said] = await once(child.stdout, "data");
  const name = String(said).trim();
  await eventually(
    () => namespaceNames().includes(name),
    () => `${name} is there`,
  );
  child.kill("SIGKILL");
  await eventually(
    () => !namespaceNames().includes(name),
    () => `${name} is gone`,
  );
});
