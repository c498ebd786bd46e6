// The name of a pod's interface on its node, which everybody derives from the pod's own.
import { createHash } from "node:crypto";

export function interfaceOfPod({ namespace, name, link }: { namespace: string; name: string; link?: string }): string {
  return link ?? interfaceOf(namespace, name);
}

export function interfaceOf(namespace: string, name: string): string {
  return `cali${createHash("sha1").update(`${namespace}.${name}`).digest("hex").slice(0, 11)}`;
}
