// get -w: the objects as they are, then every change until the command is interrupted. A stream that breaks off is opened
// again after a new list, so that nothing is missed; whoever reads is told while nobody answers.
import { Backoff, messageOf, systemClock } from "../../../../base/lib/index.ts";
import { isDatastoreError } from "../../../../calico/datastore/index.ts";
import { type ApiKind, isResourceError, type Resources } from "../../../../calico/resources/index.ts";
import { type Console, CtlError } from "../../console.ts";
import type { OutputFormat } from "../../output/output-format.ts";
import { reasonOf } from "../said/reasons.ts";
import { nameOf, type Target } from "../targets/targets.ts";
import { type ChangeWriter, changeWriter } from "./change-text.ts";
import { afterEvent, afterList, type Change, type Known } from "./changes.ts";

export type FollowOptions = {
  readonly resources: Resources;
  readonly console: Console;
  readonly format: OutputFormat;
  readonly options: { readonly showsNamespace: boolean; readonly defaultAsNumber: () => Promise<number | undefined> };
};

/** Answers 0 when it is interrupted, which is the only way that it ends well. */
export async function follow(targets: readonly Target[], context: FollowOptions): Promise<number> {
  const { console, format, options } = context;
  const [first] = targets;
  if (first === undefined || targets.some(({ kind }) => kind !== first.kind)) {
    throw new CtlError("--watch follows objects of one kind");
  }
  const refused = targets.find(({ refusal }) => refusal !== undefined)?.refusal;
  if (refused !== undefined) throw new CtlError(reasonOf(refused), { cause: refused });
  const write = changeWriter(first.kind, format, options.showsNamespace);
  try {
    await new Following(targets, first, context, write).run();
    return 0;
  } catch (error) {
    if (console.signal.aborted) return 0;
    if (!isResourceError(error) && !isDatastoreError(error)) throw error;
    throw new CtlError(reasonOf(error), { cause: error });
  }
}

const firstWaitMs = 500;

class Following {
  readonly #context: FollowOptions;
  readonly #write: ChangeWriter;
  readonly #kind: ApiKind;
  readonly #within: { readonly within?: { readonly namespace: string } };
  readonly #isMeant: (id: { readonly namespace?: string | undefined; readonly name?: string | undefined }) => boolean;
  #known: Known = new Map();
  #isFirst = true;

  constructor(targets: readonly Target[], first: Target, context: FollowOptions, write: ChangeWriter) {
    this.#context = context;
    this.#write = write;
    this.#kind = first.kind;
    const namespaces = new Set(targets.map(({ id }) => id.namespace));
    const isOne = namespaces.size === 1 && !first.isEverywhere && first.id.namespace !== "";
    this.#within = isOne ? { within: { namespace: first.id.namespace } } : {};
    const isAll = targets.some(({ id }) => id.name === "");
    const wanted = new Set(targets.map(({ id }) => `${id.namespace}/${id.name}`));
    this.#isMeant = ({ namespace = "", name = "" }) => isAll || wanted.has(`${namespace}/${name}`);
  }

  async run(): Promise<void> {
    const { signal } = this.#context.console;
    const backoff = new Backoff(Math.random);
    while (!signal.aborted) {
      try {
        await this.#watch(await this.#list(), () => backoff.reset());
      } catch (error) {
        if (signal.aborted || this.#isFirst || !isResourceError(error, "unavailable")) throw error;
        const { err } = this.#context.console;
        err(`changes may be late: ${messageOf(error)}; trying again\n`);
        await systemClock.sleep(backoff.nextDelayMs(firstWaitMs), signal);
      }
    }
  }

  async #list(): Promise<string> {
    const { resources, console } = this.#context;
    const { items, unreadable, revision } = await resources.list(this.#kind, {
      signal: console.signal,
      ...this.#within,
    });
    for (const { id, problem } of unreadable.filter(({ id: bad }) => this.#isMeant(bad))) this.#complain(id, problem);
    const meant = items.filter(({ metadata }) => this.#isMeant(metadata));
    const { known, changes } = afterList(this.#known, meant);
    this.#known = known;
    await this.#say(changes);
    this.#isFirst = false;
    return revision;
  }

  /** Ends when the datastore ends the stream. */
  async #watch(from: string, works: () => void): Promise<void> {
    const { resources, console } = this.#context;
    for await (const events of resources.watch(this.#kind, { from, signal: console.signal, ...this.#within })) {
      works();
      const changes: Change[] = [];
      for (const event of events) {
        if (event.is === "unreadable" && this.#isMeant(event.id)) this.#complain(event.id, event.problem);
        if (event.is === "set" && !this.#isMeant(event.object.metadata)) continue;
        const after = afterEvent(this.#known, event);
        this.#known = after.known;
        changes.push(...after.changes);
      }
      if (changes.length > 0) await this.#say(changes);
    }
  }

  async #say(changes: readonly Change[]): Promise<void> {
    const { console, options } = this.#context;
    const defaultAsNumber = this.#kind === "Node" ? await options.defaultAsNumber() : undefined;
    const text = this.#write(changes, { defaultAsNumber });
    if (text !== "") console.out(text);
  }

  #complain(id: { readonly namespace: string; readonly name: string }, problem: string): void {
    this.#context.console.err(`${nameOf({ kind: this.#kind, id })} cannot be read: ${problem}\n`);
  }
}
