// Kernel settings under /proc/sys, of this network namespace or of another. Read and written within one tick, as the files that one sees
// there are those of the thread's namespace.
import { readFileSync, writeFileSync } from "node:fs";
import { CattailError } from "../../lib/index.ts";
import { errnoOf, reasonOf } from "../files/errno.ts";
import { inNamespace } from "./network-namespace.ts";

/**
 * `net.ipv4.ip_forward`, `net/ipv4/ip_forward`, or its parts. The first separator decides, as in sysctl(8): in a name with dots a slash
 * stands for a dot (`net.ipv4.conf.eth0/100.rp_filter`), in one with slashes dots are dots. Parts need no rule.
 */
export type SysctlName = string | readonly string[];

export function readSysctl(name: SysctlName, options: { readonly namespace?: string | undefined } = {}): string {
  const path = sysctlPath(name);
  return within(options.namespace, () => {
    try {
      return readFileSync(path, "utf8").trimEnd();
    } catch (error) {
      throw cannot("read", path, error);
    }
  });
}

export function writeSysctl(
  name: SysctlName,
  value: string | number,
  options: { readonly namespace?: string | undefined } = {},
): void {
  const path = sysctlPath(name);
  within(options.namespace, () => {
    try {
      writeFileSync(path, `${value}\n`, { flag: "r+" }); // never makes a file
    } catch (error) {
      throw cannot(`set to ${JSON.stringify(value)}`, path, error);
    }
  });
}

export function sysctlPath(name: SysctlName): string {
  const parts = typeof name === "string" ? splitName(name) : name;
  const isGood = parts.length > 0 && parts.every((part) => !/^\.{0,2}$/.test(part) && !/[/\0]/.test(part));
  if (isGood) return `/proc/sys/${parts.join("/")}`;
  throw new CattailError("SYSCTL_NAME", {
    problem: `${JSON.stringify(name)} is not the name of a kernel setting`,
    next: "Write it as net.ipv4.ip_forward or net/ipv4/ip_forward, an interface with a dot as net/ipv4/conf/eth0.100/rp_filter",
  });
}

function splitName(name: string): string[] {
  const separator = /[./]/.exec(name)?.[0];
  if (separator === "/") return name.split("/");
  return name.split(".").map((part) => part.replaceAll("/", "."));
}

function within<T>(namespace: string | undefined, work: () => T): T {
  return namespace === undefined ? work() : inNamespace(namespace, work);
}

function cannot(what: string, path: string, error: unknown): CattailError {
  const errno = errnoOf(error);
  const next =
    errno === "ENOENT"
      ? "Check the name; the kernel has it only if the interface is there and the module is loaded"
      : errno === "EACCES" || errno === "EPERM" || errno === "EROFS"
        ? "Run this as root; in a container /proc/sys must be writable"
        : errno === "EINVAL"
          ? "The kernel takes other values there: see its documentation, networking/ip-sysctl"
          : "See whether the same works with sysctl(8)";
  return new CattailError("SYSCTL", { problem: `${path} cannot be ${what} (${reasonOf(error)})`, next, cause: error });
}
