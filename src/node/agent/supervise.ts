// Keeps one part running: a part that fails, or ends by itself, is started again after a pause that grows, and health says so meanwhile.
// Nothing of the kernel is touched here: what the part has put there stays in force.
import { Backoff, messageOf, passAbort } from "../../base/lib/index.ts";
import type { HealthReporter } from "../../base/observe/index.ts";
import type { Feed, LiveSettings, Part, PartWorld } from "../part/index.ts";

/** A part that worked for so long has recovered: its next failure is a first one again. */
const recoveredAfterMs = 60_000;
const pauses = { baseMs: 500, capMs: 60_000, retryAfterCapMs: 60_000 };

export type Supervised = Omit<PartWorld, "health"> & {
  readonly health: HealthReporter;
  readonly random: () => number;
  /** Told of each failure. */
  readonly failed?: (part: Part, error: unknown) => void;
};

export async function supervise(part: Part, world: Supervised, signal: AbortSignal): Promise<void> {
  const { clock, log, health } = world;
  const backoff = new Backoff(world.random, pauses);
  for (let failures = 0; !signal.aborted; ) {
    const startedMs = clock.monotonicMs();
    const problem = await runOnce(part, world, signal);
    if (signal.aborted) return;
    if (clock.monotonicMs() - startedMs > recoveredAfterMs) {
      failures = 0;
      backoff.reset();
    }
    failures += 1;
    const pauseMs = backoff.nextDelayMs(pauses.baseMs);
    world.failed?.(part, problem);
    const said = messageOf(problem);
    health.report({
      live: true,
      ready: false,
      detail: `failed ${failures === 1 ? "" : `${failures} times `}and is started again: ${said}`,
    });
    log.error("A part of the agent failed; it is started again, and what it has put in force stays", {
      part: part.name,
      problem: said,
      failures,
      pauseMs: Math.round(pauseMs),
      ...(problem instanceof Error && problem.stack !== undefined ? { stack: problem.stack } : {}),
    });
    await clock.sleep(pauseMs, signal).catch(() => undefined); // aborted: the loop's condition sees it
  }
}

/** What it failed of. What it has subscribed to ends with it, and an error in one of its listeners is its own failure. */
async function runOnce(part: Part, world: Supervised, signal: AbortSignal): Promise<unknown> {
  using leases = new DisposableStack();
  const broken = Promise.withResolvers<unknown>();
  const ending = new AbortController();
  const fail = (error: unknown) => {
    broken.resolve(error);
    ending.abort(error);
  };
  const own: PartWorld = {
    ...world,
    feed: guardedFeed(world.feed, leases, fail),
    settings: guardedSettings(world.settings, leases, fail),
  };
  using _ = passAbort(signal, ending);
  const running = runPart(part, own, ending.signal);
  const ended = await Promise.race([running, broken.promise.then((error) => ({ error }))]);
  // One that was told to stop is waited for: two of a kind would fight over the kernel.
  if (ending.signal.aborted) await running;
  return ended.error ?? new Error("it ended by itself");
}

async function runPart(part: Part, world: PartWorld, signal: AbortSignal): Promise<{ error?: unknown }> {
  try {
    await part.run(world, signal);
    return {};
  } catch (error) {
    return { error };
  }
}

type Fail = (error: unknown) => void;

function guardedFeed(feed: Feed, leases: DisposableStack, fail: Fail): Feed {
  return {
    follow(set, consumer) {
      const guard =
        <Args extends unknown[]>(act: (...args: Args) => void) =>
        (...args: Args) => {
          if (leases.disposed) return;
          try {
            act(...args);
          } catch (error) {
            fail(error);
          }
        };
      return leases.use(
        feed.follow(set, {
          set: guard((path: string, value: string) => consumer.set(path, value)),
          delete: guard((path: string) => consumer.delete(path)),
          settled: guard((state) => consumer.settled(state)),
        }),
      );
    },
  };
}

function guardedSettings(settings: LiveSettings, leases: DisposableStack, fail: Fail): LiveSettings {
  return {
    raw: (name) => settings.raw(name),
    onChange: (listener) =>
      leases.use(
        settings.onChange((names) => {
          try {
            listener(names);
          } catch (error) {
            fail(error);
          }
        }),
      ),
  };
}
