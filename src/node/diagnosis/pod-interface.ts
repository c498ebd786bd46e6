// The name of a pod's interface on its node, which everybody derives from the pod's own.
import { createHash } from "node:crypto";

export function interfaceOf(namespace: string, name: string): string {
  return `cali${createHash("sha1").update(`${namespace}.${name}`).digest("hex").slice(0, 11)}`;
}
