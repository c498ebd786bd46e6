// Does many things at the same time, but not more than so many, and each one only when those it waits for are over. Begins
// in the order of the input; answers in that order. One that fails stops nobody. After an interruption, or when nobody
// answers any more, the rest is not begun, and that is said of each.
import { NotBegun, rateLimitOf, Turns, type TurnsOptions } from "./turns.ts";

export type Outcome<T> =
  | { readonly is: "done"; readonly value: T }
  | { readonly is: "failed"; readonly error: unknown }
  | { readonly is: "not tried"; readonly why: string };

export type Task<T> = {
  /** Places of earlier tasks. */
  readonly after: readonly number[];
  readonly run: () => Promise<T>;
};

export type RunOptions = TurnsOptions & {
  readonly atMost: number;
  /** Whether the datastore itself did not answer, so that asking further is in vain when it happens again and again. */
  readonly isSilence: (error: unknown) => boolean;
};

/** So many silences one after the other, and nobody is there. */
const mostSilences = 3;

export async function runAll<T>(tasks: readonly Task<T>[], options: RunOptions): Promise<readonly Outcome<T>[]> {
  const { atMost, signal, isSilence } = options;
  const turns = new Turns(options);
  const outcomes: (Outcome<T> | undefined)[] = tasks.map(() => undefined);
  const waiting = new Set(tasks.keys());
  const running = new Set<Promise<void>>();
  let silences = 0;

  const reasonToStop = (): string | undefined => {
    if (signal.aborted) return "the command was interrupted";
    return silences >= mostSilences ? `there was no answer ${mostSilences} times in a row` : undefined;
  };
  const begin = (at: number, { run }: Task<T>) => {
    waiting.delete(at);
    const over = turns.take(run).then(
      (value) => {
        silences = 0;
        outcomes[at] = { is: "done", value };
      },
      (error: unknown) => {
        if (error instanceof NotBegun) return;
        silences = isSilence(error) && rateLimitOf(error) === undefined ? silences + 1 : 0;
        outcomes[at] = { is: "failed", error };
      },
    );
    const tracked = over.finally(() => running.delete(tracked));
    running.add(tracked);
  };

  // Kept as it was found: an answer that was under way meanwhile would make it look as if there had been no reason.
  let why: string | undefined;
  while (waiting.size > 0) {
    why = reasonToStop();
    if (why !== undefined) break;
    for (const at of waiting) {
      if (running.size >= atMost) break;
      const task = tasks[at];
      if (task?.after.every((before) => outcomes[before] !== undefined)) begin(at, task);
    }
    await Promise.race(running);
  }
  await Promise.all(running);
  const whyNot = why ?? reasonToStop() ?? "the command ended";
  return outcomes.map((outcome) => outcome ?? { is: "not tried", why: whyNot });
}
