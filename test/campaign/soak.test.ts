// Campaign: a long stream of random sets and deletions to 50 Go clients of every kind. At the end every key's last value is
// right on every client, no key ever went back, nothing is lost. Whole: npm run campaign:soak (1,000,000 updates).
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { say, size } from "../kit/campaign.ts";
import { seededRandom } from "../kit/random.ts";
import { digestOf, GoClients, lastKey, serve, untilLast, withoutGoClient } from "../kit/serving.ts";

const updates = size({ short: 10_000, long: 1_000_000 });
const kinds = [[], ["--no-restart"], ["--zstd"], ["--no-compression"], ["--read-delay", "2ms"]];

for (const workers of [0, 2]) {
  test(`${updates} updates to 50 clients, ${workers} workers`, { skip: withoutGoClient }, async () => {
    await using server = await serve({ workers });
    server.status(2);
    const groups = kinds.map(
      (flags) => new GoClients(server, ["--clients", "10", "--stats", "--digest", ...untilLast, ...flags]),
    );
    await using stack = new AsyncDisposableStack();
    for (const group of groups) stack.use(group);
    await Promise.all(groups.map((group) => group.inSync(10)));
    const { below, isOneIn } = seededRandom(1);
    for (let sent = 0; sent < updates; ) {
      const batch = 1 + below(50);
      const set: { [path: string]: string } = {};
      const gone: string[] = [];
      for (let index = 0; index < batch; index += 1) {
        const path = `/calico/v1/config/soak-${below(5000)}`;
        if (isOneIn(5) && server.told.has(path)) gone.push(path);
        else set[path] = `{"seq":${sent + index},"filler":"${"x".repeat(below(300))}"}`;
      }
      for (const path of gone) delete set[path];
      server.set(set);
      server.delete(gone);
      sent += batch;
      if (isOneIn(4)) await new Promise((resolve) => setImmediate(resolve));
    }
    server.set({ [lastKey]: "x" });
    const expected = digestOf(server.told);
    const totals = { messages: 0, kvs: 0 };
    for (const group of groups) {
      const stats = await group.statsAtLast();
      deepEqual(stats.states, { [expected]: 10 });
      equal(stats.backwards, 0);
      totals.messages += stats.messages;
      totals.kvs += stats.kvs;
    }
    say(`${workers} workers`, { updates, workers, keysLeft: server.told.size, ...totals }, 1);
  });
}
