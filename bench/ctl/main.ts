// What a command of ctl takes: the clock on the wall, CPU and the most memory at once, on a real API server, next to the
// original's calicoctl where one is given.
//   npm run bench:ctl -- [--against CMD] [--rounds 9] [--rounds-of-many 1] [--only BEGIN,BEGIN] [--sources] [--binary FILE]
// Measured is what npm installs, or with --sources this checkout; the single executable with --binary. They take turns.
// Goals: single commands at most 1.5 times the original's wall and CPU time and at most its memory; 200 objects in a
// tenth of its time, which is 21 s for new ones and 101 s for known ones, because it allows itself five requests a second.
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { crdManifest, customKinds } from "../../src/calico/kinds/index.ts";
import { clusterPeer, startCluster } from "../../test/kit/cluster.ts";
import { installCrds } from "../../test/kit/crds.ts";
import { record } from "../../test/kit/record.ts";
import { median } from "../median.ts";
import { makePackage } from "../start/as-package.ts";
import { type CommandUse, useOfCommand } from "../start/use-of-command.ts";
import { fill, removeSets, type Scene, scenes, writeInputs } from "./scenes.ts";

const { values: flags } = parseArgs({
  options: {
    against: { type: "string" },
    rounds: { type: "string", default: "9" },
    "rounds-of-many": { type: "string", default: "1" },
    only: { type: "string" },
    sources: { type: "boolean", default: false },
    binary: { type: "string" },
  },
});

type Subject = { readonly who: string; readonly command: readonly string[] };

const peer = await clusterPeer();
if (peer.path === undefined) throw new Error(`no API server to measure with: ${peer.missing}`);
using built = flags.sources ? undefined : await makePackage();
const subjects: Subject[] = [
  { who: "cattail", command: [process.execPath, join(resolve(built?.folder ?? "."), "bin/cattail"), "ctl"] },
  ...(flags.binary === undefined ? [] : [{ who: "binary", command: [resolve(flags.binary), "ctl"] }]),
  ...(flags.against === undefined ? [] : [{ who: "original", command: flags.against.split(/\s+/) }]),
];
const wanted = flags.only?.split(",");
const home = mkdtempSync(join(tmpdir(), "cattail-bench-ctl-"));
await using cluster = await startCluster();
await installCrds(
  cluster,
  customKinds.map((kind) => crdManifest(kind)),
);
writeInputs(home);
console.log(`load average ${loadavg()[0]?.toFixed(1)}`);
for (const blocks of [20, 1000] as const) {
  await fill(cluster, blocks);
  for (const scene of scenes)
    if (scene.blocks === blocks && (wanted?.some((name) => scene.what.startsWith(name)) ?? true)) await measure(scene);
}
console.log(`load average ${loadavg()[0]?.toFixed(1)}`);
rmSync(home, { recursive: true, force: true });

async function measure(scene: Scene): Promise<void> {
  const uses = new Map<Subject, CommandUse[]>(subjects.map((subject) => [subject, []]));
  const once = async ({ command }: Subject) => {
    if (scene.onNew) await removeSets(cluster);
    const env = { PATH: process.env.PATH, HOME: home, DATASTORE_TYPE: "kubernetes", KUBECONFIG: cluster.kubeconfig };
    return await useOfCommand([...command, ...scene.argv(home)], env);
  };
  // The first run of each fills caches and does not count. Then they take turns, so that a busy moment meets all.
  if (!scene.isLong) for (const subject of subjects) await once(subject);
  const rounds = Number(scene.isLong ? flags["rounds-of-many"] : flags.rounds);
  for (let round = 0; round < rounds; round += 1)
    for (const subject of subjects) uses.get(subject)?.push(await once(subject));
  const original = subjects.find(({ who }) => who === "original");
  const beside = original === undefined ? undefined : figuresOf(uses.get(original) ?? []);
  for (const [subject, seen] of uses) {
    const figures = figuresOf(seen);
    console.log(
      `${scene.what.padEnd(40)} ${subject.who.padEnd(9)} ${describe(figures, subject === original ? undefined : beside)}`,
    );
    record({ of: `${scene.what}, ${subject.who}`, figures });
  }
}

type Spread = { readonly median: number; readonly least: number; readonly most: number };
type Figures = { readonly wallMs: Spread; readonly cpuMs: Spread; readonly peakRssMb: Spread };

function figuresOf(seen: readonly CommandUse[]): Figures {
  const of = (read: (use: CommandUse) => number): Spread => {
    const values = seen.map(read).toSorted((a, b) => a - b);
    return { median: rounded(median(values)), least: rounded(values[0] ?? 0), most: rounded(values.at(-1) ?? 0) };
  };
  return {
    wallMs: of(({ wallMs }) => wallMs),
    cpuMs: of(({ cpuMs }) => cpuMs),
    peakRssMb: of(({ peakRssMb }) => peakRssMb),
  };
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

function describe(figures: Figures, beside: Figures | undefined): string {
  const text = (name: keyof Figures, unit: string) => {
    const { median: middle, least, most } = figures[name];
    const ratio = beside === undefined ? "" : `, ${(middle / beside[name].median).toFixed(2)} of the original`;
    return `${middle} ${unit} (${least} to ${most}${ratio})`;
  };
  return [text("wallMs", "ms"), text("cpuMs", "ms CPU"), text("peakRssMb", "MB")].join("; ");
}
