// Whether a program that a test starts is on this machine.
import { accessSync, constants } from "node:fs";
import { join } from "node:path";

/** Why a test that starts it is skipped; false: it is there. */
export function missingProgram(name: string): string | false {
  for (const folder of (process.env.PATH ?? "").split(":")) {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return false;
    } catch {
      // Not in this one.
    }
  }
  return `${name} is not installed`;
}
