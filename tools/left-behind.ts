// What of Cattail's tests could leave in the machine's own network, and may not: they work in namespaces of theirs. The test run looks
// before and after itself.
import { execFileSync } from "node:child_process";

/** Tables and interfaces by the names that Cattail and Calico give them; none where nobody may look. */
export function ownTraces(namespace?: string): ReadonlySet<string> {
  const tables = lines(["nft", "list", "tables"], namespace).filter((line) => /\b(cattail|calico)$/.test(line));
  const links = lines(["ip", "-o", "link", "show"], namespace).flatMap((line) => {
    const [, name = ""] = /^\d+: ([^:@]+)/.exec(line) ?? [];
    return /^(cali|vxlan\.calico|vxlan-v6\.calico|wireguard\.cali|cattail)/.test(name) ? [`interface ${name}`] : [];
  });
  return new Set([...tables, ...links]);
}

function lines([program = "", ...words]: string[], namespace: string | undefined): string[] {
  const inside = namespace === undefined ? [] : ["netns", "exec", namespace, program];
  const [first = program, ...rest] = inside.length === 0 ? [program, ...words] : ["ip", ...inside, ...words];
  try {
    return execFileSync(first, rest, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).split("\n");
  } catch {
    return []; // not installed, or not root: then no test can have made any
  }
}
