// ctl node checksystem: whether this node's kernel has what Calico needs. Reads files only, so that it needs no root.
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { Run } from "../command.ts";
import { type Console, CtlError } from "../console.ts";
import { goWords } from "../file-error.ts";
import {
  isNewEnough,
  isThere,
  type KernelFacts,
  type KernelNeed,
  kernelNeeds,
  modulesListed,
  modulesLoaded,
  oldestKernel,
  optionsSet,
} from "./kernel-needs.ts";

export const run: Run = async (invocation, console) => {
  const release = (await textOf("/proc/sys/kernel/osrelease")).trim();
  const facts = await kernelFacts(release, invocation.value("kernel-config"));
  if (report({ release, facts }, console)) {
    console.out("System meets minimum system requirements to run Calico!\n");
    return 0;
  }
  throw new CtlError("system doesn't meet one or more minimum systems requirements to run Calico");
};

/** Whether all is there. */
export function report(
  { release, facts }: { readonly release: string; readonly facts: KernelFacts },
  { out }: Pick<Console, "out">,
): boolean {
  const result = (name: string, is: "OK" | "FAIL" | "SKIP") => out(`\t\t${name.padEnd(20)}\t\t\t\t\t${is}\n`);
  out("Checking kernel version...\n");
  const isNew = isNewEnough(release);
  result(release, isNew ? "OK" : "FAIL");
  if (!isNew) out(`Minimum kernel version to run Calico is ${oldestKernel}. Detected kernel version: ${release}\n`);
  out("Checking kernel modules...\n");
  let isComplete = isNew;
  for (const need of kernelNeeds) {
    if (isThere(need, facts)) result(need.name, "OK");
    else {
      out(`WARNING: ${missing(need)}\n`);
      result(need.name, need.isOptional === true ? "SKIP" : "FAIL");
      if (need.isOptional !== true) isComplete = false;
    }
  }
  return isComplete;
}

function missing({ name, isOptional }: KernelNeed): string {
  if (isOptional === true) return `Unable to detect optional module/feature ${name}; continuing`;
  return `Unable to detect the ${name} module as Loaded/Builtin module or lsmod`;
}

async function kernelFacts(release: string, config: string | undefined): Promise<KernelFacts> {
  const [loaded, dep, builtin, inSys] = await Promise.all([
    textOf("/proc/modules"),
    textOf(`/lib/modules/${release}/modules.dep`),
    textOf(`/lib/modules/${release}/modules.builtin`),
    readdir("/sys/module").catch(() => []),
  ]);
  const modules = new Set([...inSys, ...modulesLoaded(loaded), ...modulesListed(dep), ...modulesListed(builtin)]);
  return { modules, options: new Set(optionsSet(await kernelConfig(release, config))) };
}

async function kernelConfig(release: string, given: string | undefined): Promise<string> {
  if (given !== undefined && given !== "") {
    try {
      return await readFile(given, "utf8");
    } catch (error) {
      throw new CtlError(`open ${given}: ${goWords(error)}`, { cause: error });
    }
  }
  const usual = [
    "/usr/src/linux/.config",
    `/boot/config-${release}`,
    `/usr/src/linux-${release}/.config`,
    `/usr/src/linux-headers-${release}/.config`,
    `/lib/modules/${release}/build/.config`,
  ];
  for (const path of usual) {
    const text = await textOf(path);
    if (text !== "") return text;
  }
  return await runningConfig();
}

/** Many kernels have their configuration with them; the original does not look there. */
async function runningConfig(): Promise<string> {
  try {
    const packed = await readFile("/proc/config.gz");
    const { gunzip } = await import("node:zlib");
    return (await promisify(gunzip)(packed, { maxOutputLength: 4 << 20 })).toString("utf8");
  } catch {
    return ""; // this one has not
  }
}

/** "" where there is none, or none for us. */
async function textOf(path: string): Promise<string> {
  return await readFile(path, "utf8").catch(() => "");
}
