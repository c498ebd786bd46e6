// The same as read-object-command.ts from the sources of any checkout, also from before the storeys, so that the two can be
// measured side by side.
//   node bench/start/read-object.ts CHECKOUT KUBECONFIG
import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

enableCompileCache();
const [, , checkout = "", kubeconfig = ""] = process.argv;
const places = ["src/calico/datastore/index.ts", "src/datastore/index.ts"];
const place = places.map((name) => join(resolve(checkout), name)).find((file) => existsSync(file));
if (place === undefined) throw new Error(`${checkout} has no datastore`);
const { Command } = await import("commander");
await new Command("read")
  .action(async () => {
    // The same function in all of them; a checkout is not known to the compiler.
    const { openKubernetes } = (await import(`${pathToFileURL(place)}`)) as Pick<
      typeof import("../../src/calico/datastore/index.ts"),
      "openKubernetes"
    >;
    const silence = { debug() {}, info() {}, warn() {}, error() {} };
    const clock = {
      wallMs: () => Date.now(),
      monotonicMs: () => performance.now(),
      sleep: (delayMs: number, signal?: AbortSignal) =>
        new Promise<void>((done, reject) => {
          const timer = setTimeout(done, delayMs);
          signal?.addEventListener("abort", () => {
            clearTimeout(timer);
            reject(signal.reason);
          });
        }),
    };
    await using datastore = await openKubernetes({ kubeconfig }, { clock, log: silence });
    const object = await datastore.get("Tier", { namespace: "", name: "default" });
    if (object === undefined) throw new Error("there is no tier named default");
    console.log(JSON.stringify(object.value));
  })
  .parseAsync([], { from: "user" });
