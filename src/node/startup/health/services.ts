// In the original's image runit keeps the daemons running, and says whether they do. Elsewhere the daemons are asked themselves, and there is nothing to
// look at here.
import { access } from "node:fs/promises";

const enabled = "/etc/service/enabled";

/** Throws Error for one that does not run. */
export async function servicesRun(names: readonly string[], signal: AbortSignal): Promise<void> {
  for (const name of names) {
    const folder = `${enabled}/${name}`;
    const isThere = await access(folder).then(
      () => true,
      () => false, // not this kind of image, or not this daemon
    );
    if (!isThere) continue;
    const { runProgram } = await import("../../../base/linux/index.ts");
    const { stdout } = await runProgram("sv", ["status", folder], { signal });
    if (!stdout.startsWith("run")) throw new Error(`service ${name} is not running. Output << ${stdout.trim()} >>`);
  }
}
