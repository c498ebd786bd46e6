// The whole campaign of interleavings, in as many processes as are asked for:
//   node test/campaign/ipam/interleavings.ts [--schedules 1000000] [--seed 1] [--processes 2]
// Schedule N is that of seed N, so a broken rule is brought back with --seed N --schedules 1.
import { fork } from "node:child_process";
import { parseArgs } from "node:util";
import { say, sayWrong } from "../../kit/campaign.ts";
import { addPlayed, playSchedules, type SchedulesPlan, type SchedulesPlayed } from "../../kit/ipam/play-schedules.ts";

const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "1000000" },
    seed: { type: "string", default: "1" },
    processes: { type: "string", default: "2" },
    part: { type: "boolean", default: false },
  },
});
const plan = { first: Number(values.seed), count: Number(values.schedules) };
const tell = (played: number) => console.log(`schedules from ${plan.first}: ${played} of ${plan.count}`);
if (values.part) process.send?.(playSchedules(plan, tell));
else await whole(plan, Number(values.processes));

async function whole({ first, count }: SchedulesPlan, processes: number): Promise<void> {
  const startedMs = performance.now();
  const share = Math.ceil(count / processes);
  const parts = Array.from({ length: processes }, (_, at) => {
    const begin = at * share;
    return { first: first + begin, count: Math.max(0, Math.min(share, count - begin)) };
  });
  const [one, ...others] = await Promise.all(parts.map(inProcess)).catch((error: unknown) => {
    sayWrong("interleavings", error, {}, first);
    throw error;
  });
  if (one === undefined) throw new Error("no process played anything");
  const { mended, left, ...sum } = others.reduce(addPlayed, one);
  const seconds = (performance.now() - startedMs) / 1000;
  const figures = { ...sum, mended: mended.mended, changedMeanwhile: mended.changed, seconds };
  say("interleavings", { ...figures, "left without a fault": JSON.stringify(left), "rules broken": 0 }, first);
}

function inProcess({ first, count }: SchedulesPlan): Promise<SchedulesPlayed> {
  const { promise, resolve, reject } = Promise.withResolvers<SchedulesPlayed>();
  const child = fork(import.meta.filename, ["--part", "--seed", String(first), "--schedules", String(count)]);
  child.on("message", (played) => resolve(played as SchedulesPlayed)); // sent by this file
  child.on("exit", (code) => reject(new Error(`schedules ${first} to ${first + count - 1}: exit ${code}`)));
  return promise;
}
