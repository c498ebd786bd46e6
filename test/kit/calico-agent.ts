// One agent of a node, as calico-node has four of them: a Go client that follows a server, and another one when that goes.
// Like the real ones it starts with a snapshot there, and goes by what it had until the new server says in-sync.
import { setTimeout as sleep } from "node:timers/promises";
import type { SyncerType } from "../../src/calico/model/index.ts";
import { GoClients } from "./go-clients.ts";

export type ServerChoice = { readonly name: string; readonly host: string; readonly port: number };

export type AgentOptions = {
  readonly node: string;
  readonly syncer: SyncerType;
  /** Flags of test/peers/typha/client: what this version of calico-node can and cannot do. */
  readonly speaks: readonly string[];
  /** As discovery finds them at that moment. */
  readonly servers: () => readonly ServerChoice[];
  /** Flags with its TLS files, read anew for each connection. */
  readonly tls: readonly string[];
};

export type AgentSession = {
  readonly server: ServerChoice;
  readonly client: GoClients;
  readonly state: Map<string, string>;
  seen: number;
  isInSync: boolean;
};

export class CalicoAgent implements AsyncDisposable {
  readonly options: AgentOptions;
  readonly sessions: AgentSession[] = [];
  /** Every key it was ever told to delete. */
  readonly deletions = new Set<string>();
  readonly #done: Promise<void>;
  #isStopped = false;
  #turn: number;

  /** `turn` says with which of the servers to begin: agents that all began with the first would all be there. */
  constructor(options: AgentOptions, turn: number) {
    this.options = options;
    this.#turn = turn;
    this.#done = this.#run();
  }

  get name(): string {
    return `${this.options.node} ${this.options.syncer}`;
  }

  /** The server it follows, once that has said in-sync. */
  get server(): string | undefined {
    this.#read();
    const last = this.sessions.at(-1);
    return last?.isInSync === true && last.client.child.exitCode === null ? last.server.name : undefined;
  }

  /** What it goes by: all it was told by the last server that said in-sync. */
  get state(): ReadonlyMap<string, string> {
    this.#read();
    return this.sessions.findLast(({ isInSync }) => isInSync)?.state ?? new Map();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.sessions.at(-1)?.client[Symbol.asyncDispose]();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { node, syncer, speaks, tls } = this.options;
    let left: string | undefined;
    while (!this.#isStopped) {
      const server = this.#choose(left);
      if (server === undefined) {
        await sleep(50);
        continue;
      }
      const target = ["--server", `${server.host}:${server.port}`, ...tls];
      // However slow the machine, it leaves only a server that is gone.
      const asks = ["--hostname", node, "--type", syncer, "--timeout", "600s", ...speaks];
      const client = new GoClients({ address: server }, [...target, ...asks]);
      const session: AgentSession = { server, client, state: new Map(), seen: 0, isInSync: false };
      this.sessions.push(session);
      await client.exited;
      left = server.name;
      this.#read();
      if (!session.isInSync) await sleep(100); // refused, or too early: a pause before the next attempt, as the real ones do
    }
  }

  /** Another one than was just left, where there is another: each agent in its own turn. */
  #choose(left: string | undefined): ServerChoice | undefined {
    const found = this.options.servers();
    const others = found.filter(({ name }) => name !== left);
    const among = others.length > 0 ? others : found;
    this.#turn += 1;
    return among[this.#turn % Math.max(1, among.length)];
  }

  #read(): void {
    for (const session of this.sessions) {
      const { client, state } = session;
      for (; session.seen < client.events.length; session.seen += 1) {
        const { kv, status } = client.events[session.seen] ?? {};
        if (status !== undefined) session.isInSync ||= status === 2;
        if (kv === undefined) continue;
        if (kv.value !== null) state.set(kv.key, kv.value);
        else {
          state.delete(kv.key);
          this.deletions.add(kv.key);
        }
      }
    }
  }
}
