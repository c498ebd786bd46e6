// A node of a lab that runs the original's programs: the variables of its agent, its plugins in the place of ours, and whether it is ready.
import { symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import type { LabNode } from "../../src/programs/lab/world/index.ts";
import { missingProgram } from "./programs.ts";

/** The path of its combined program. */
export const original = process.env.CATTAIL_ORIGINAL_CALICO;
export const noOriginal =
  original === undefined ? "CATTAIL_ORIGINAL_CALICO does not name the original's program" : missingProgram("ipset"); // which its agent cannot do without

const component = `${original} component`;
const startUp = `${component} node startup && ${component} node allocate-tunnel-addrs --run-once`;
/** Its start-up and its tunnel addresses once, and then its agent, as its image runs them. */
export const originalAgent = [
  "sh",
  "-c",
  `{ [ -e /var/lib/calico/nodename ] || { ${startUp}; }; } && exec ${component} felix`,
];

/** Beside those that our agent has, which are the same. */
export const originalEnvironment = {
  FELIX_DATASTORETYPE: "kubernetes",
  FELIX_NFTABLESMODE: "Enabled",
  FELIX_LOGFILEPATH: "none",
  FELIX_LOGSEVERITYFILE: "none",
  FELIX_LOGSEVERITYSYS: "none",
  FELIX_USAGEREPORTINGENABLED: "false",
  FELIX_DebugSkipCTLBCleanup: "true", // so that one built without eBPF runs, too
} as const;

/** The lab starts /opt/cni/bin/calico with Node; a program of another kind takes the process over. */
export function usePlugins(node: LabNode, program: string, { isNode }: { isNode: boolean }): void {
  for (const name of ["calico", "calico-ipam"]) {
    const file = node.path(`/opt/cni/bin/${name}`);
    unlinkSync(file);
    if (isNode || name === "calico-ipam") symlinkSync(program, file);
    else writeFileSync(file, `process.execve(${JSON.stringify(program)}, ["/opt/cni/bin/${name}"], process.env);\n`);
  }
}

export async function isReady(node: LabNode): Promise<boolean> {
  const { stdout } = await node.run(
    "curl",
    ["-s", "-o", "/dev/null", "-w", "%{http_code}", "http://localhost:9099/readiness"],
    { alsoGood: [7, 28, 52, 56] },
  );
  return stdout === "200";
}
