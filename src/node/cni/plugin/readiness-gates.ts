// `readiness_gates`: URLs that must answer with 200 to 399 before a pod gets its network. Each is asked every 5 s for 30 s; unlike the original,
// the first time at once, so that a gate that is open costs no 5 s.
import { type Clock, messageOf } from "../../../base/lib/index.ts";
import { CniError, cniErrorCodes } from "../protocol/cni-error.ts";

const pauseMs = 5_000;
const patienceMs = 30_000;

export type GateOptions = {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** 0: asked once. */
  readonly limitMs?: number;
};

/** Throws CniError. */
export async function waitForGates(urls: readonly string[], options: GateOptions): Promise<void> {
  const { clock, signal, limitMs = patienceMs } = options;
  for (const url of urls) {
    mustBeUrl(url);
    const startMs = clock.monotonicMs();
    let why = await closedBecause(url, signal);
    while (why !== undefined && clock.monotonicMs() - startMs < limitMs) {
      await clock.sleep(pauseMs, signal);
      why = await closedBecause(url, signal);
    }
    if (why === undefined) continue;
    throw new CniError(cniErrorCodes.other, `timed out waiting for the condition: readiness gate ${url}: ${why}`, {
      details: "start what answers there, or take the URL out of readiness_gates",
    });
  }
}

function mustBeUrl(text: string): void {
  if (URL.canParse(text) && /^https?:/.test(text)) return;
  const why = `parse ${JSON.stringify(text)}: ${text === "" ? "empty url" : "invalid URI for request"}`;
  throw new CniError(cniErrorCodes.other, `invalid URL set for ReadinessGates:${text} Error:${why}`);
}

/** Undefined: it is open. */
async function closedBecause(url: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  const late = AbortSignal.timeout(pauseMs);
  try {
    const answer = await fetch(url, {
      redirect: "manual",
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
    await answer.body?.cancel();
    return answer.status >= 200 && answer.status < 400 ? undefined : `it answered with ${answer.status}`;
  } catch (error) {
    signal?.throwIfAborted();
    return messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
  }
}
