// The BIRDs of a lab's nodes. An agent that is killed leaves its BIRD running, so nobody's child is to be ended: they are found by their network.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { LabNode } from "../world/index.ts";

export function birdsOf({ netns }: LabNode): number[] {
  const own = readlinkSync(netns);
  return readdirSync("/proc")
    .filter((each) => /^\d+$/.test(each))
    .filter((pid) => {
      try {
        const isBird = /^bird6?$/.test(readFileSync(`/proc/${pid}/comm`, "utf8").trim());
        return isBird && readlinkSync(`/proc/${pid}/ns/net`) === own;
      } catch {
        return false; // it has ended meanwhile
      }
    })
    .map(Number);
}

/** Without a word to their peers; an agent that runs starts another. */
export function killBirds(node: LabNode): void {
  for (const pid of birdsOf(node)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}
