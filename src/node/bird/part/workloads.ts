// Workloads on this node that are BGP peers: the node's agent writes a file for each endpoint, with the name of the BGPPeer that selects it.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, canonicalIp, isRecord, type Log, messageOf, parseIp } from "../../../base/lib/index.ts";
import { errnoOf, isTemporaryName, watchFolder } from "../../../base/linux/index.ts";
import type { LocalWorkload } from "../model/peerings.ts";
import { Following } from "./following.ts";

type Options = {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly changed: () => void;
  readonly failed: (error: unknown) => void;
};

export class WorkloadSource {
  readonly #options: Options;
  readonly #following: Following;
  #workloads: readonly LocalWorkload[] | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#following = new Following((signal) => this.#run(signal), options.failed);
  }

  get workloads(): readonly LocalWorkload[] {
    return this.#workloads ?? [];
  }

  get isInSync(): boolean {
    return this.#workloads !== undefined;
  }

  start(): void {
    this.#following.start();
  }

  stop(): void {
    this.#following.stop();
    this.#workloads = undefined;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { folder, clock, log, changed } = this.#options;
    for await (const _ of watchFolder(folder, { signal, clock, log })) {
      const read = await readWorkloads(folder, log);
      if (signal.aborted) return;
      this.#workloads = read;
      changed();
    }
  }
}

async function readWorkloads(folder: string, log: Log): Promise<readonly LocalWorkload[]> {
  const found: LocalWorkload[] = [];
  for (const name of (await namesIn(folder)).toSorted()) {
    try {
      const workload = readWorkload(JSON.parse(await readFile(join(folder, name), "utf8")));
      if (workload !== undefined) found.push(workload);
    } catch (error) {
      // Half written, or gone again: the next notice brings it.
      log.debug("The status of an endpoint cannot be read", { file: name, error: messageOf(error) });
    }
  }
  return found;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => !isTemporaryName(name));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** Undefined: no BGPPeer selects it, or it has no address yet. */
export function readWorkload(value: unknown): LocalWorkload | undefined {
  if (!isRecord(value) || typeof value.bgpPeerName !== "string" || value.bgpPeerName === "") return undefined;
  const first = (nets: unknown, family: 4 | 6): string | undefined => {
    const [net] = Array.isArray(nets) ? nets : [];
    const address = typeof net === "string" ? canonicalIp(net.split("/")[0] ?? "") : undefined;
    return parseIp(address ?? "")?.version === family ? address : undefined;
  };
  const workload = { peer: value.bgpPeerName, 4: first(value.ipv4Nets, 4), 6: first(value.ipv6Nets, 6) };
  return workload[4] === undefined && workload[6] === undefined ? undefined : workload;
}
