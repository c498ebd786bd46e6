// Reads the files of objects that are only ever replaced, all the time, as any program would: none may ever be missing, cut or mixed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import { isWhole } from "./folder-kills-content.ts";

const [folder = "", ...files] = process.argv.slice(2);
let isEnding = false;
process.once("SIGTERM", () => {
  isEnding = true;
});
let reads = 0;
let other = 0;
const wrong: string[] = [];
const last = new Map<string, string>();
while (!isEnding) {
  for (const file of files) {
    try {
      const text = readFileSync(join(folder, file), "utf8");
      reads += 1;
      if (last.get(file) === text) continue; // parsing is slow, and this one has been looked at
      last.set(file, text);
      other += 1;
      const { kind, spec } = parse(text.split("---\n").at(-1) ?? "");
      if (kind !== "Tier" || !isWhole(spec)) wrong.push(`${file}: ${text.slice(0, 200)}`);
    } catch (error) {
      wrong.push(`${file}: ${String(error)}`);
    }
  }
  await sleep(1);
}
process.stdout.write(JSON.stringify({ reads, other, wrong: wrong.slice(0, 5) }));
