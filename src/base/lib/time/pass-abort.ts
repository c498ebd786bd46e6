// Passes one signal's abort on to a controller, and leaves nothing behind when it is disposed of. (AbortSignal.any()
// keeps about a kilobyte in a long-lived signal for each call: a loop that calls it leaks. until-silent.test.ts counts.)
export function passAbort(from: AbortSignal | undefined, to: AbortController): Disposable {
  const onAbort = () => to.abort(from?.reason);
  if (from?.aborted) onAbort();
  from?.addEventListener("abort", onAbort, { once: true });
  return { [Symbol.dispose]: () => from?.removeEventListener("abort", onAbort) };
}
