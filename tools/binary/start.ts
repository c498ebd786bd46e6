// Where the single executable begins. Called as a CNI plugin it asks the agent first; else, and where there is no agent, the program is read and begins.
// The program is an asset of the executable and not its main module, because that is read as a whole at every start: 100 ms and 25 MB, which a
// runtime would pay for each pod. bin/cattail does the same for the package.
import { basename } from "node:path";
import { getRawAsset } from "node:sea";
import { Script } from "node:vm";
import { type Started, startPlugin } from "../../bin/cni-plugin.cjs";

const called = basename(process.argv0);
if ((called === "calico" || called === "calico-ipam") && process.argv.length === 2) {
  startPlugin(called, [process.execPath]).then((started) => {
    const handedOver = globalThis as { cattailCniStarted?: Started }; // src/programs/cni/run-program.ts
    handedOver.cattailCniStarted = started;
    begin();
  });
} else {
  begin();
}

/** Its promise is nobody's: what fails in it ends the process, as it would in a module. */
function begin(): void {
  const text = Buffer.from(getRawAsset("program.js")).toString("latin1"); // tools/build-binary.ts makes it ASCII
  new Script(text, { filename: "/cattail/main.js" }).runInThisContext();
}
