// What a command of ours that reads one object does and nothing else: parse the line, open the datastore, get, print. Bundled
// as the package's programs are (as-package.ts).
//   node read-object-command.js KUBECONFIG
import { enableCompileCache } from "node:module";
import { Command } from "commander";

enableCompileCache();
await new Command("read")
  .argument("<kubeconfig>")
  .action(async (kubeconfig: string) => {
    const { openKubernetes } = await import("../../src/calico/datastore/index.ts");
    const { silentLog, systemClock } = await import("../../src/base/lib/index.ts");
    await using datastore = await openKubernetes({ kubeconfig }, { clock: systemClock, log: silentLog });
    const object = await datastore.get("Tier", { namespace: "", name: "default" });
    if (object === undefined) throw new Error("there is no tier named default");
    console.log(JSON.stringify(object.value));
  })
  .parseAsync(process.argv.slice(2), { from: "user" });
