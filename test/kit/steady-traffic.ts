// Traffic that never stops while a lab's node is changed under it: pings, connections that stay open, and attempts that a policy has to refuse all the time.
import { equal, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ping } from "../../src/base/linux/kernel.ts";
import type { Lab } from "../../src/programs/lab/cluster/lab.ts";
import { labMark } from "../../src/programs/lab/cluster/objects.ts";
import { ended } from "../../src/programs/lab/world/index.ts";
import { eventually } from "./eventually.ts";

const [open, closed] = [9_999, 9_998];
const target = "pingtest-3";
/** From other nodes, and from one beside it in the second pool. */
const others = ["pingtest-1", "pingtest-4", "pingtest-ippool-2"];

/** What one of its programs prints at its end: test/kit/steady-peer.ts. */
type Seen = {
  sent: number;
  echoed: number;
  longestGapMs: number;
  connected: number;
  refused: number;
  lost: string;
  throughAt: string[];
};

/** One port of all pods is closed, everything else open. */
const policy = {
  apiVersion: "projectcalico.org/v3",
  kind: "GlobalNetworkPolicy",
  metadata: { name: "steady-traffic", labels: labMark },
  spec: {
    order: 1,
    selector: "all()",
    types: ["Ingress"],
    ingress: [{ action: "Deny", protocol: "TCP", destination: { ports: [closed] } }, { action: "Allow" }],
  },
};

export type SteadyTraffic = AsyncDisposable & {
  /** Ends it, and fails for each ping that was lost, each connection that broke and each attempt that came through. */
  check(): Promise<string>;
};

export async function steadyTraffic(lab: Lab): Promise<SteadyTraffic> {
  await lab.resources.apply("GlobalNetworkPolicy", policy);
  const program = (pod: string, name: string, ...words: (string | number)[]) => {
    const log = join(lab.options.folder, "logs", `steady-${name}.log`);
    const script = join(import.meta.dirname, "steady-peer.ts");
    const env = { PATH: process.env.PATH ?? "" };
    const child = lab.pods.get(pod).place.start(process.execPath, [script, ...words.map(String)], { env, log });
    const end = async (): Promise<Seen> => {
      await ended(child, "SIGTERM");
      const text = readFileSync(log, "utf8");
      ok(text.startsWith("{"), `${name}: ${text}`);
      return JSON.parse(text) as Seen; // of our own program
    };
    return { name, end };
  };
  const addressOf = (pod: string) => lab.pods.get(pod).address;
  const servers = [target, ...others].map((pod) => program(pod, `serve-${pod}`, "serve", open, closed));
  await eventually(
    async () => (await answers(lab, open)) && !(await answers(lab, closed)),
    "one port is open, and the other closed",
    60_000,
  );
  const held = others.flatMap((pod) => [
    program(pod, `hold-${pod}-${target}`, "hold", addressOf(target), open),
    program(target, `hold-${target}-${pod}`, "hold", addressOf(pod), open),
  ]);
  const tried = others.map((pod) => program(pod, `try-${pod}`, "try", addressOf(target), closed));

  const stop = new AbortController();
  const counts = { sent: 0, lost: 0 };
  const pings = others.map(async (name) => {
    const { netns: namespace } = lab.pods.get(name).place;
    while (!stop.signal.aborted) {
      const options = { namespace, count: 10, intervalMs: 100, timeoutMs: 2_000 };
      const { sent, received } = await ping(addressOf(target), options);
      counts.sent += sent;
      counts.lost += sent - received;
    }
  });
  const end = async () => {
    stop.abort();
    await Promise.all(pings);
  };
  return {
    async check() {
      await end();
      ok(counts.sent > 100);
      equal(counts.lost, 0, `${counts.lost} of ${counts.sent} pings were lost`);
      let [echoed, refused, gap] = [0, 0, 0];
      for (const { name, end } of held) {
        const seen = await end();
        equal(seen.lost, "", `${name} broke after ${seen.echoed} bytes`);
        ok(seen.echoed > 20 && seen.echoed >= seen.sent - 5, `${name}: ${JSON.stringify(seen)}`);
        echoed += seen.echoed;
        gap = Math.max(gap, seen.longestGapMs);
      }
      for (const { name, end } of tried) {
        const seen = await end();
        equal(
          seen.connected,
          0,
          `${name}: ${seen.connected} connections came through a closed port at ${seen.throughAt.join(" ")}`,
        );
        ok(seen.refused > 4, `${name}: ${seen.refused} attempts`);
        refused += seen.refused;
      }
      for (const { end } of servers) await end();
      return `${counts.sent} pings and ${echoed} bytes on ${held.length} connections, none lost, at most ${gap} ms between two bytes; ${refused} attempts refused`;
    },
    [Symbol.asyncDispose]: end,
  };
}

async function answers(lab: Lab, port: number): Promise<boolean> {
  const { place } = lab.pods.get(others[0] ?? "");
  const { code } = await place
    .run("bash", ["-c", `exec 3<>/dev/tcp/${lab.pods.get(target).address}/${port}`], {
      alsoGood: [1, 124],
      limitMs: 2_000,
    })
    .catch(() => ({ code: 1 })); // no answer at all
  return code === 0;
}
