// The nodes of a cluster: of each of four versions of calico-node one, with its four agents, and the question whether they
// all hold what was written.
import { setTimeout as sleep } from "node:timers/promises";
import { syncerTypes } from "../../src/calico/model/index.ts";
import { CalicoAgent, type ServerChoice } from "./calico-agent.ts";
import { eventually } from "./eventually.ts";
import type { PolicyForm, ToldObjects } from "./told-objects.ts";

const versions: readonly { node: string; form: PolicyForm; speaks: readonly string[] }[] = [
  { node: "node-0", form: "modern", speaks: [] },
  { node: "node-1", form: "legacy", speaks: ["--legacy-keys"] },
  { node: "node-2", form: "legacy", speaks: ["--legacy-keys", "--no-compression"] },
  { node: "node-3", form: "legacy", speaks: ["--legacy-keys", "--no-restart"] },
];
/** Nodes that the newest Typha of the original takes, which turns away whoever speaks the legacy form. */
export const modernNodes: typeof versions = [
  { node: "node-0", form: "modern", speaks: [] },
  { node: "node-1", form: "modern", speaks: ["--no-compression"] },
];
export const nodeNames: readonly string[] = versions.map(({ node }) => node);

type Member = { readonly agent: CalicoAgent; readonly form: PolicyForm };

export class CalicoNodes implements AsyncDisposable {
  readonly #members: readonly Member[];

  constructor(options: { servers: () => readonly ServerChoice[]; tls: readonly string[] }, nodes = versions) {
    this.#members = nodes.flatMap(({ node, form, speaks }, nodeIndex) =>
      syncerTypes.map((syncer, index) => ({
        agent: new CalicoAgent({ ...options, node, syncer, speaks }, nodeIndex * syncerTypes.length + index),
        form,
      })),
    );
  }

  get agents(): readonly CalicoAgent[] {
    return this.#members.map(({ agent }) => agent);
  }

  /** Connections made so far: one more is one that was lost before. */
  get connectionsMade(): number {
    return this.agents.reduce((total, { sessions }) => total + sessions.length, 0);
  }

  /** Waits until every agent follows a server and holds exactly what was told. */
  async hold(told: ToldObjects, when: string): Promise<void> {
    const laggards = () =>
      this.#members.flatMap(({ agent, form }) => {
        if (agent.server === undefined) return [`${agent.name} follows nobody`];
        const difference = told.differenceTo(agent.state, agent.options.syncer, form);
        return difference === undefined ? [] : [`${agent.name} at ${agent.server} ${difference}`];
      });
    await eventually(
      () => laggards().length === 0,
      () => `${when}: all hold what was told; ${laggards().join("; ")}`,
    );
  }

  /** What anybody was told to delete and nobody had deleted; the servers' own endpoints come and go. */
  wrongDeletions(told: ToldObjects): string[] {
    const isEndpoint = (key: string) => /\/kubernetesendpointslices\/kube-system\/(?:calico|cattail)-typha-/.test(key);
    return this.agents.flatMap((agent) =>
      [...agent.deletions]
        .filter((key) => !told.deleted.has(key) && !isEndpoint(key))
        .map((key) => `${agent.name}: ${key}`),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.agents.map((agent) => agent[Symbol.asyncDispose]()));
  }
}

/** Changes that go on while something else happens, at the pace of a busy cluster. */
export function keepWriting(told: ToldObjects): { stop(): Promise<number> } {
  const startedAt = told.rounds;
  let isStopped = false;
  const writing = (async () => {
    while (!isStopped) {
      await told.writeRound();
      await sleep(50);
    }
  })();
  writing.catch(() => undefined); // stop() says so
  return {
    async stop() {
      isStopped = true;
      await writing;
      return told.rounds - startedAt;
    },
  };
}
