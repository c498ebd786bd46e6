// Where the single executable begins: called as a CNI plugin it asks the agent first, before any of the program is run; else, and where there is no
// agent, the program begins. bin/cattail does the same for the package.
import { basename } from "node:path";
import { type Started, startPlugin } from "../../bin/cni-plugin.cjs";

const called = basename(process.argv0);
if ((called === "calico" || called === "calico-ipam") && process.argv.length === 2) {
  const handedOver = globalThis as { cattailCniStarted?: Started }; // src/programs/cni/run-program.ts
  handedOver.cattailCniStarted = await startPlugin(called, [process.execPath]);
}
await import("../../src/programs/main/main.ts");
