// A signal for work that may take so long, which ends with the work: AbortSignal.timeout stays behind until its time has come, and makes an error then
// that nobody reads. Of an agent's hundreds of requests that is some of its time.
import { passAbort } from "../../base/lib/index.ts";

export type TimeLimit = Disposable & { readonly signal: AbortSignal; readonly isOver: () => boolean };

export function timeLimit(limitMs: number, outer?: AbortSignal | undefined): TimeLimit {
  const ending = new AbortController();
  const passing = passAbort(outer, ending);
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    ending.abort(new Error(`it took longer than ${limitMs / 1000} s`));
  }, limitMs);
  return {
    signal: ending.signal,
    isOver: () => isOver,
    [Symbol.dispose]() {
      clearTimeout(timer);
      passing[Symbol.dispose]();
    },
  };
}
