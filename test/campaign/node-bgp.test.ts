// Random changes to BGP, blocks and modes on five nodes with whole agents and BIRD as processes, which are killed, too; after each the routes
// of every node are those that a model says. `npm run campaign:node` makes two hundred of them beside the thousand of node-routes.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { givenDatastore } from "../../src/programs/lab/cluster/given-datastore.ts";
import { Lab } from "../../src/programs/lab/cluster/lab.ts";
import { afterTest } from "../kit/after-test.ts";
import { isLong, say, sayWrong } from "../kit/campaign.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { missingProgram } from "../kit/programs.ts";
import { seededRandom, testSeed } from "../kit/random.ts";
import { kernelRoutes } from "../kit/route-nodes/running.ts";
import { RandomBgp } from "./node/random-bgp.ts";

/** A BIRD that was killed while a session of it went for good waits four minutes for it before it removes what it had. */
const limitMs = 300_000;
const needed = ["bird", "nft", "unshare", "setpriv"].map(missingProgram);
const skip =
  noNamespaces ||
  (needed.find((each) => each !== false) ?? false) ||
  (!isLong && "a campaign of its own: npm run campaign:node");
const steps = Number(process.env.CATTAIL_CHANGES ?? 200);

test("random changes to BGP on five nodes: every node's routes are the model's", {
  skip,
  timeout: 14_400_000,
}, async (t) => {
  const seed = testSeed();
  const folder = mkdtempSync(join(tmpdir(), "cattail-campaign-bgp-"));
  afterTest(t).defer(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["logs", "objects"]) mkdirSync(join(folder, name));
  const { inside } = await givenDatastore({}, folder);
  const lab = afterTest(t).use(
    await Lab.start({ folder, nodes: 5, mode: "bgp", ...inside, say: () => undefined }, false),
  );
  for (const { name } of lab.world.nodes) await lab.addPod({ name: `pod-${name}`, node: name });
  const random = new RandomBgp(lab, seededRandom(seed));
  const tookMs: number[] = [];
  const done: string[] = [];
  for (let step = 0; step <= steps; step++) {
    if (step > 0) done.push(await random.step());
    const beganMs = performance.now();
    for (const node of lab.world.nodes) {
      for (;;) {
        const wanted = (await random.expected()).get(node.name) ?? [];
        const seen = (await kernelRoutes(node.netns))
          .filter((line) => /10\.244\.\S+\/26/.test(line))
          .map((line) => line.replace(/ metric 1024$/, ""));
        const missing = wanted.filter((line) => !seen.includes(line));
        const excess = seen.filter((line) => !wanted.includes(line));
        if (missing.length + excess.length === 0) break;
        if (performance.now() - beganMs > limitMs) {
          const endOf = (name: string) => readFileSync(join(folder, "logs", `${name}.log`), "utf8").slice(-3_000);
          const log = `${endOf(node.name)}\nTypha:\n${endOf("typha")}`;
          const wrong = `${node.name}: missing ${JSON.stringify(missing)}, in excess ${JSON.stringify(excess)}`;
          sayWrong("BGP on five nodes", `${done.at(-1) ?? "start"}: ${wrong}`, { changes: step }, seed);
          throw new Error(
            `seed ${seed}, step ${step}: ${done.slice(-5).join("; ")}\n${random.state}\n${wrong}\n${log}`,
          );
        }
        await sleep(100);
      }
    }
    tookMs.push(performance.now() - beganMs);
    if (step % 10 === 0)
      console.log(`${step} changes, the last after ${Math.round(tookMs.at(-1) ?? 0)} ms: ${done.at(-1) ?? ""}`);
  }
  const sorted = tookMs.slice(1).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  say("BGP on five nodes", { changes: steps, p50Ms: at(0.5), p99Ms: at(0.99), worstMs: at(1) }, seed);
});
