// What BIRD says of itself, judged as the original judges it, or strictly. Both generations: BIRD 1.6 has a daemon for each family, BIRD 2 one for both.
import { access } from "node:fs/promises";
import { type Clock, type Family, messageOf } from "../../../base/lib/index.ts";
import { askBird, type BirdLine, type Peer, type Protocol, peersOf, readProtocols } from "../../bird/asking.ts";

export type BirdState = {
  readonly socket: string;
  readonly peers: readonly Peer[];
  readonly kernelProtocols: readonly Protocol[];
  /** Asked only where the answer counts: a probe is not to wait, or to fail, for one that does not. */
  readonly isRestarting: () => Promise<boolean>;
};

export type BirdOptions = {
  readonly family: Family;
  /** Looked for in this order; the first that is there is asked. */
  readonly sockets: readonly string[];
  /** Of IPv6: where a BIRD of both families is looked for then. */
  readonly socketsOfBoth?: readonly string[];
  readonly signal: AbortSignal;
};

/** Where the sockets of a family are: in Calico's folder, in the system's, or where the environment says. */
export function socketsOf(family: Family, named: string | undefined): readonly string[] {
  const file = family === 4 ? "bird.ctl" : "bird6.ctl";
  const usual = ["/var/run/calico", "/var/run/bird", "/run/bird"].map((folder) => `${folder}/${file}`);
  return named === undefined || named === "" ? usual : [named, ...usual];
}

/** Throws Error with the original's words. */
export async function lookAtBird(options: BirdOptions): Promise<BirdState> {
  const { family, signal } = options;
  const { socket, isOfBoth } = await findSocket(options);
  const ask = async (command: string, known: ReadonlySet<number>): Promise<readonly BirdLine[]> => {
    try {
      const lines = await askBird(socket, command, { signal });
      const odd = lines.find(({ code }) => !known.has(code));
      if (odd === undefined) return lines;
      throw new Error(`unexpected output line from BIRD: '${odd.code} ${odd.text.trim()}'`);
    } catch (error) {
      const isAway = error instanceof Error && "code" in error && error.code === "BIRD_UNREACHABLE";
      if (!isAway) throw new Error(`error executing command: ${messageOf(error)}`, { cause: error });
      throw new Error(`error querying BIRD: unable to connect to BIRDv${family} socket: ${reasonOf(error, socket)}`, {
        cause: error,
      });
    }
  };
  const lines = await ask("show protocols", protocolCodes);
  // A BIRD without any protocol says nothing at all, not even headings.
  const table = lines.length === 0 ? ({ generation: 2, protocols: [] } as const) : readProtocols(lines);
  if (table === undefined) throw new Error("error executing command: unknown BIRD table output format");
  if (isOfBoth && table.generation === 1)
    throw new Error(`error querying BIRD: unable to connect to BIRDv${family} socket: BIRD 1 at ${socket} is of IPv4`);
  return {
    socket,
    peers: peersOf(table).filter((peer) => table.generation === 1 || peer.family === family),
    kernelProtocols: table.protocols.filter(({ kind }) => kind === "Kernel"),
    isRestarting: async () => (await ask("show status", statusCodes)).some(({ code }) => code === gracefulRestart),
  };
}

const gracefulRestart = 24;
/** What each answer consists of; with anything else in it, it is not known what it means. */
const protocolCodes: ReadonlySet<number> = new Set([2002, 1002, 0]);
const statusCodes: ReadonlySet<number> = new Set([1000, 1011, 13, gracefulRestart]);

/** One that answers is enough to live. */
export async function birdAnswers(options: BirdOptions): Promise<void> {
  const { socket } = await findSocket(options);
  const lines = await askBird(socket, "show status", { signal: options.signal });
  if (lines.some(({ code, text }) => code === 1000 && text.startsWith("BIRD"))) return;
  throw new Error(`bad response from bird: ${lines.map(({ text }) => text).join(" ")}`);
}

/** Whether there is a BIRD for IPv6: one of its own, or a BIRD 2, which is of both families. */
export async function speaksIpv6({
  sockets,
  socketsOfBoth = [],
  signal,
}: Omit<BirdOptions, "family">): Promise<boolean> {
  if ((await firstThere(sockets)) !== undefined) return true;
  const both = await firstThere(socketsOfBoth);
  return both !== undefined && readProtocols(await askBird(both, "show protocols", { signal }))?.generation === 2;
}

async function findSocket({
  sockets,
  socketsOfBoth = [],
}: BirdOptions): Promise<{ socket: string; isOfBoth: boolean }> {
  const found = await firstThere(sockets);
  if (found !== undefined) return { socket: found, isOfBoth: false };
  const both = await firstThere(socketsOfBoth);
  if (both !== undefined) return { socket: both, isOfBoth: true };
  return { socket: sockets[0] ?? "", isOfBoth: false }; // which is then said to be away
}

async function firstThere(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const isThere = await access(path).then(
      () => true,
      () => false, // then the next
    );
    if (isThere) return path;
  }
  return undefined;
}

function reasonOf(error: unknown, socket: string): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return `dial unix ${socket}: ${messageOf(cause ?? error)}`;
}

export type Rule = {
  /** Since the name file was written. */
  readonly ageMs: number;
  readonly thresholdMs: number;
  /** Undefined: the original's rule. */
  readonly strict?: { readonly graceMs: number; readonly clock: Clock };
};

/** Undefined: ready. The sentence is the original's. */
export async function whyNotReady(
  { peers, isRestarting, kernelProtocols }: BirdState,
  rule: Rule,
): Promise<string | undefined> {
  const isUp = ({ info }: Peer) => /^Established\b/.test(info);
  const down = peers.filter((peer) => !isUp(peer));
  const notUp = (which: readonly Peer[]) => `BGP not established with ${which.map(({ address }) => address).join(",")}`;
  if (rule.strict !== undefined) {
    const { graceMs, clock } = rule.strict;
    const long = down.filter(({ since }) => downForMs(since, clock.wallMs()) >= graceMs);
    if (long.length > 0) return notUp(long);
    if (await isRestarting()) return "graceful restart in progress";
    const waiting = kernelProtocols.filter(({ state }) => state !== "up").map(({ name }) => name);
    return waiting.length > 0 ? `kernel routes are not written yet by ${waiting.join(",")}` : undefined;
  }
  if (peers.length === 0) return undefined;
  if (rule.ageMs >= rule.thresholdMs) return down.length < peers.length ? undefined : notUp(down);
  if (down.length > 0) return notUp(down);
  return (await isRestarting()) ? "graceful restart in progress" : undefined;
}

/** BIRD says the time of today, or the day. One that cannot be read was long ago. */
export function downForMs(since: string, nowMs: number): number {
  const [, hours, minutes, seconds] = /^(\d\d):(\d\d):(\d\d(?:\.\d+)?)$/.exec(since) ?? [];
  if (hours === undefined) return Number.POSITIVE_INFINITY;
  const at = new Date(nowMs);
  at.setHours(Number(hours), Number(minutes), 0, Number(seconds) * 1000);
  const forMs = nowMs - at.getTime();
  return forMs < 0 ? forMs + 24 * 3_600_000 : forMs;
}
