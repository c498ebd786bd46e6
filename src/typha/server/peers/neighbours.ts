// Which nodes the other servers have, for the dashboard: a node that is not here is missing only when no other server has
// it either. Asked while somebody looks, never faster than the interval; a server that did not answer is asked less often.
import type { Clock } from "../../../base/lib/index.ts";
import { messageOf } from "../../../base/lib/index.ts";
import type { NodeState } from "../../dashboard/index.ts";
import type { Peer } from "./evacuation.ts";
import type { OwnNode } from "./neighbour-protocol.ts";

export type Neighbourhood = {
  /** How many other servers there are. */
  readonly servers: number;
  /** Those that did not say which nodes they have, and why. */
  readonly unheard: readonly { readonly server: string; readonly why: string }[];
  readonly nodes: ReadonlyMap<string, { readonly server: string; readonly state: NodeState }>;
};

export type NeighboursOptions = {
  readonly peers: () => readonly Peer[];
  /** Rejects with an Error that says why there is no answer. */
  readonly ask: (peer: Peer) => Promise<readonly OwnNode[]>;
  readonly clock: Clock;
};

const askIntervalMs = 5000;
/** The original refuses the question, and writes a line into its log each time. */
const askAgainMs = 60_000;
/** What was heard counts until the next answer should long have been there. */
const heardForMs = 20_000;
/** The first look waits a moment: neighbours mostly answer within milliseconds. */
const firstLookMs = 500;

type Asked = {
  answer: { readonly nodes: readonly OwnNode[]; readonly atMs: number } | undefined;
  why: string;
  askAtMs: number;
};

export class Neighbours {
  readonly #options: NeighboursOptions;
  readonly #asked = new Map<string, Asked>();

  constructor(options: NeighboursOptions) {
    this.#options = options;
  }

  async look(): Promise<Neighbourhood> {
    const { peers, clock } = this.#options;
    const present = new Map(peers().map((peer) => [addressOf(peer), peer]));
    for (const server of this.#asked.keys()) if (!present.has(server)) this.#asked.delete(server);
    const first = [...present].flatMap(([server, peer]) => {
      const isNew = !this.#asked.has(server);
      const asking = this.#askIfDue(server, peer);
      return isNew ? [asking] : [];
    });
    if (first.length > 0) await Promise.race([Promise.all(first), clock.sleep(firstLookMs)]);
    return this.#heard(present.keys());
  }

  #heard(servers: Iterable<string>): Neighbourhood {
    const nowMs = this.#options.clock.monotonicMs();
    const unheard: { server: string; why: string }[] = [];
    const nodes = new Map<string, { server: string; state: NodeState }>();
    let count = 0;
    for (const server of servers) {
      count += 1;
      const { answer, why = "" } = this.#asked.get(server) ?? {};
      if (answer === undefined || nowMs - answer.atMs > heardForMs) unheard.push({ server, why });
      else for (const [node, state] of answer.nodes) nodes.set(node, { server, state });
    }
    return { servers: count, unheard, nodes };
  }

  async #askIfDue(server: string, peer: Peer): Promise<void> {
    const { clock, ask } = this.#options;
    const asked: Asked = this.#asked.get(server) ?? { answer: undefined, why: "it has not answered yet", askAtMs: 0 };
    this.#asked.set(server, asked);
    if (clock.monotonicMs() < asked.askAtMs) return;
    asked.askAtMs = Number.POSITIVE_INFINITY; // one question at a time
    try {
      asked.answer = { nodes: await ask(peer), atMs: clock.monotonicMs() };
      asked.askAtMs = clock.monotonicMs() + askIntervalMs;
    } catch (error) {
      asked.why = messageOf(error);
      asked.askAtMs = clock.monotonicMs() + askAgainMs;
    }
  }
}

function addressOf({ host, port }: Peer): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
