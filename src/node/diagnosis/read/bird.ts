// What BIRD on this host says: its sessions, and whether it holds routes back.
import { existsSync } from "node:fs";
import { type Clock, messageOf } from "../../../base/lib/index.ts";
import { askBird, peersOf, readProtocols } from "../../bird/index.ts";
import type { BirdFacts } from "../facts.ts";
import { canonical } from "../networks.ts";

const sockets = {
  bird: ["/var/run/calico/bird.ctl", "/var/run/bird/bird.ctl"],
  /** Of a BIRD of the first generation, which has a daemon for each family. */
  bird6: ["/var/run/calico/bird6.ctl", "/var/run/bird/bird6.ctl"],
} as const;

const patienceMs = 6_000;
const pauseMs = 500;

/** Undefined: there is no BIRD here. A session that comes up within seconds was not down. */
export async function readBird(
  which: keyof typeof sockets,
  clock: Clock,
  signal: AbortSignal,
): Promise<BirdFacts | undefined> {
  const socket = sockets[which].find((path) => existsSync(path));
  if (socket === undefined) return undefined;
  const endMs = clock.monotonicMs() + patienceMs;
  for (;;) {
    const found = await readOnce(socket);
    const isUp = found.sessions.every(({ state }) => state === "Established");
    if (found.silent !== undefined || found.waits !== undefined || isUp || clock.monotonicMs() > endMs) return found;
    await clock.sleep(pauseMs, signal);
  }
}

async function readOnce(socket: string): Promise<BirdFacts> {
  try {
    const protocols = readProtocols(await askBird(socket, "show protocols"));
    const status = (await askBird(socket, "show status")).map(({ text }) => text.trim());
    const waits = waitingWords(status);
    const sessions = (protocols === undefined ? [] : peersOf(protocols)).map(({ address, info }) => {
      const [state = "", ...more] = info.split(" ");
      return { address: canonical(address), state, info: more.join(" ") };
    });
    return { socket, sessions, ...(waits === undefined ? {} : { waits }) };
  } catch (error) {
    return { socket, sessions: [], silent: messageOf(error) };
  }
}

/** "Graceful restart recovery in progress", "Waiting for 1 protocols to recover", "Wait timer is 212/240". */
function waitingWords(status: readonly string[]): string | undefined {
  if (!status.some((line) => /^Graceful restart recovery in progress/.test(line))) return undefined;
  return status.filter((line) => /recover|^Wait timer/i.test(line)).join(", ");
}
