// The part of the agent that keeps the plugin's token fresh: a new one after a quarter of its life (and up to as long again, so that
// the nodes of a cluster do not ask together), and at once when the agent's own mounted token changes, because that is what is seen of
// an API server whose signing key was replaced, which no old token outlives.
import { ApiClient, type Identity, loadIdentity } from "../../base/kube/index.ts";
import { messageOf } from "../../base/lib/index.ts";
import { replaceFile, watchFolder } from "../../base/linux/files.ts";
import { parseDuration } from "../../calico/model/index.ts";
import type { Part, PartWorld } from "../part/index.ts";
import { cniKubeconfig, kubeconfigName } from "./kubeconfig.ts";
import {
  type CniToken,
  cniServiceAccount,
  mountedNamespace,
  mountedTokenFolder,
  requestToken,
} from "./request-token.ts";

export type CniTokenOptions = {
  /** CALICO_MANAGE_CNI, CALICO_CNI_SERVICE_ACCOUNT, CNI_TOKEN_REFRESH_INTERVAL, KUBECONFIG. */
  readonly variables: { readonly [name: string]: string | undefined };
  readonly random?: () => number;
  /** In front of the mounted service account; for tests. */
  readonly root?: string;
  /** What is kept fresh. */
  readonly kubeconfigFile?: string;
};

/** Where the host's folder is mounted, as in the original's manifest. */
const mountedKubeconfig = `/host/etc/cni/net.d/${kubeconfigName}`;
const shortestWaitMs = 5_000;
/** Who says nothing for long is taken for dead. */
const aliveEveryMs = 10_000;
const settleMs = 50;

export function cniTokenPart(options: CniTokenOptions): Part {
  return {
    name: "cni-token",
    async run(world, signal) {
      const { CALICO_MANAGE_CNI } = options.variables;
      if (CALICO_MANAGE_CNI === "false") return await idle(world, signal, "CALICO_MANAGE_CNI is false");
      const namespace = await mountedNamespace(options.root);
      if (namespace === undefined) return await idle(world, signal, "this is no pod with a service account");
      await keepFresh(options, { world, namespace, signal });
    },
  };
}

async function idle({ log, health, clock }: PartWorld, signal: AbortSignal, why: string): Promise<void> {
  log.info("the kubeconfig of the CNI plugin is left to others", { why });
  while (!signal.aborted) {
    health.report({ live: true, ready: true });
    await clock.sleep(aliveEveryMs, signal).catch(() => undefined); // ended by the signal
  }
}

type Keeping = { readonly world: PartWorld; readonly namespace: string; readonly signal: AbortSignal };

async function keepFresh(options: CniTokenOptions, { world, namespace, signal }: Keeping): Promise<void> {
  const { log, health, clock } = world;
  const { variables, root, random = Math.random, kubeconfigFile = mountedKubeconfig } = options;
  const settings = {
    ...(variables.KUBECONFIG ? { kubeconfig: variables.KUBECONFIG, allowExec: true } : {}),
    ...(root === undefined ? {} : { serviceAccountRoot: root }),
  };
  using api = new ApiClient(settings, { clock, log });
  const changes = new MountedToken(mountedTokenFolder(root), world, signal);
  const serviceAccount = cniServiceAccount(variables);
  let said = "";
  while (!signal.aborted) {
    let token: CniToken | undefined;
    try {
      token = await requestToken(api, { namespace, serviceAccount, signal });
      await replaceFile(kubeconfigFile, kubeconfigOf(await loadIdentity(settings), token), { mode: 0o600 });
      const until = new Date(token.expiresAtMs).toISOString();
      log.info("wrote the kubeconfig of the CNI plugin with a new token", { file: kubeconfigFile, until });
      health.report({ live: true, ready: true, detail: "" });
      said = "";
    } catch (error) {
      if (signal.aborted) return;
      token = undefined;
      // Ready all the same: the token that is there serves for hours, and a node without it serves the pods it has.
      health.report({ live: true, ready: true, detail: `the CNI plugin's token is not renewed: ${messageOf(error)}` });
      if (said !== messageOf(error)) log.error("the CNI plugin's token was not renewed", { error: messageOf(error) });
      said = messageOf(error); // every few seconds, perhaps for days: once is enough
    }
    const waitMs = refreshAfterMs({ nowMs: clock.wallMs(), token, random, interval: intervalOf(variables, world) });
    await changes.wait(waitMs);
  }
}

function kubeconfigOf({ server, tls }: Identity, { token }: CniToken): string {
  const { ca, rejectUnauthorized } = tls;
  return cniKubeconfig({ server: server.href, token, ca, skipTlsVerify: !rejectUnauthorized });
}

/** Undefined: by the token's life. */
function intervalOf(variables: CniTokenOptions["variables"], { log }: PartWorld): number | undefined {
  const { CNI_TOKEN_REFRESH_INTERVAL: text } = variables;
  if (text === undefined || text === "") return undefined;
  const nanoseconds = parseDuration(text);
  if (nanoseconds !== undefined && nanoseconds > 0n) return Number(nanoseconds / 1_000_000n);
  log.error("CNI_TOKEN_REFRESH_INTERVAL is not used: it is not a duration such as 6h", { value: text });
  return undefined;
}

/** `token` undefined: there is none yet, or it could not be written. */
export function refreshAfterMs(given: {
  readonly nowMs: number;
  readonly token: CniToken | undefined;
  readonly interval: number | undefined;
  readonly random: () => number;
}): number {
  const { nowMs, token, interval, random } = given;
  const leftMs = token === undefined ? 0 : token.expiresAtMs - nowMs;
  const isShort = leftMs < 4 * shortestWaitMs;
  const waitMs = isShort ? shortestWaitMs : Math.max(interval ?? leftMs / 4, shortestWaitMs);
  return waitMs * (1 + random());
}

/** The agent's own token as it is mounted: waits, and ends the wait when it changes. */
class MountedToken {
  readonly #world: PartWorld;
  readonly #signal: AbortSignal;
  #isChanged = false;
  #wake: AbortController | undefined;

  constructor(folder: string, world: PartWorld, signal: AbortSignal) {
    this.#world = world;
    this.#signal = signal;
    void this.#watch(folder);
  }

  async wait(waitMs: number): Promise<void> {
    const { clock, health } = this.#world;
    const endMs = clock.monotonicMs() + waitMs;
    while (!this.#isChanged && !this.#signal.aborted && clock.monotonicMs() < endMs) {
      const wake = new AbortController();
      this.#wake = wake;
      const leftMs = Math.min(aliveEveryMs, endMs - clock.monotonicMs());
      await clock.sleep(leftMs, AbortSignal.any([wake.signal, this.#signal])).catch(() => undefined); // woken
      health.report({ live: true });
    }
    this.#isChanged = false;
  }

  async #watch(folder: string): Promise<void> {
    const { clock, log } = this.#world;
    try {
      for await (const { because } of watchFolder(folder, { signal: this.#signal, quietMs: settleMs, clock, log })) {
        if (because === "start") continue;
        log.info("the mounted service account token changed: the CNI plugin gets a new one at once", { folder });
        this.#isChanged = true;
        this.#wake?.abort();
      }
    } catch (error) {
      if (!this.#signal.aborted) log.warn("the mounted token is not watched", { folder, why: messageOf(error) });
    }
  }
}
