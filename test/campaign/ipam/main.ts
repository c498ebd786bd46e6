// npm run campaign:ipam: all parts one after another, each as it runs by itself.
//   interleavings.ts   workers on a model, interleaved at every call; 1,000,000 schedules
//   assignments.ts     addresses assigned and released on etcd, a folder and Kubernetes, with faults and killed workers
//   interop.ts         our plugin beside the original's, given by CATTAIL_ORIGINAL_IPAM; skipped without it
// Names of parts, as in `npm run campaign:ipam -- interleavings`, run only those.
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const parts = ["interleavings", "assignments", "interop"];
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !parts.includes(name));
if (unknown.length > 0) throw new Error(`no part ${unknown.join(", ")}: there are ${parts.join(", ")}`);
let failed = 0;
for (const part of parts.filter((name) => asked.length === 0 || asked.includes(name))) {
  console.log(`> ${part}`);
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${part}.ts`)], { stdio: "inherit" });
  if (status !== 0) failed += 1;
}
process.exitCode = failed === 0 ? 0 : 1;
