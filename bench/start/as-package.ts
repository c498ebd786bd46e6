// What npm would install, in a folder of its own: the built files and the launcher, with this checkout's dependencies. And
// a command that reads one object, bundled as the package's programs are.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { bundlePrograms } from "../../tools/bundle-programs.ts";

/** Below the package. */
export const readObjectCommand = "dist/programs/bench/read-object.js";

export async function makePackage(): Promise<Disposable & { readonly folder: string }> {
  execFileSync(process.execPath, ["tools/build.ts"], { stdio: "inherit" });
  const folder = mkdtempSync(join(tmpdir(), "cattail-start-"));
  for (const name of ["bin", "dist", "package.json"]) cpSync(name, join(folder, name), { recursive: true });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  const entry = {
    in: "bench/start/read-object-command.ts",
    out: readObjectCommand.slice("dist/".length, -".js".length),
  };
  await bundlePrograms([entry], join(folder, "dist"));
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}
