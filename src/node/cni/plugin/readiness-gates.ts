// `readiness_gates`: URLs that must answer with 200 to 399 before a pod gets its network. Each is asked every 5 s for 30 s; unlike the original,
// the first time at once, so that a gate that is open costs no 5 s. Redirections are followed, as Go's client does.
//
// Not by fetch: it asks nothing at ports that browsers keep away from (10080, 6000, 6666), and a gate may well be there.
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
  if (URL.canParse(text) && /^https?:/i.test(text)) return;
  const why = `parse ${JSON.stringify(text)}: ${text === "" ? "empty url" : "invalid URI for request"}`;
  throw new CniError(cniErrorCodes.other, `invalid URL set for ReadinessGates:${text} Error:${why}`);
}

const mostRedirections = 10;

/** Undefined: it is open. */
async function closedBecause(url: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  const late = AbortSignal.timeout(pauseMs);
  const patience = signal === undefined ? late : AbortSignal.any([signal, late]);
  try {
    let { status, location } = await ask(url, patience);
    let at = url;
    for (let count = 0; location !== undefined; count += 1) {
      if (count === mostRedirections) return `stopped after ${mostRedirections} redirects`;
      at = new URL(location, at).href;
      mustBeUrl(at);
      ({ status, location } = await ask(at, patience));
    }
    return status >= 200 && status < 400 ? undefined : `it answered with ${status}`;
  } catch (error) {
    signal?.throwIfAborted();
    return late.aborted ? `no answer within ${pauseMs / 1000} s` : messageOf(error);
  }
}

type Answer = { readonly status: number; readonly location: string | undefined };

const redirections = [301, 302, 303, 307, 308];

function ask(url: string, signal: AbortSignal): Promise<Answer> {
  const { request } = process.getBuiltinModule(/^https:/i.test(url) ? "node:https" : "node:http");
  return new Promise((resolve, reject) => {
    const asking = request(url, { signal, agent: false }, (answer) => {
      const { statusCode: status = 0, headers } = answer;
      answer.on("error", () => undefined).destroy(); // its body is nobody's
      resolve({ status, location: redirections.includes(status) ? headers.location : undefined });
    });
    asking.on("error", reject).end();
  });
}
