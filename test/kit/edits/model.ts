// Two writers on one datastore beside a model of it: a plain map with a version for each object. A writer remembers what it
// last read, however old that is, so that its writes meet every state they can meet.
import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import { type Datastore, edit, type Patch, type StoredObject } from "../../../src/calico/datastore/index.ts";

type Content = { order: number; labels: { [name: string]: string }; status: number | undefined };
type Known = { content: Content; version: number; incarnation: number };
type Held = { object: StoredObject; version: number; incarnation: number };

export class Model {
  readonly objects = new Map<string, Known>();
  /** What a watch must say, in order. */
  readonly history: string[] = [];
  #version = 0;
  #incarnation = 0;

  set(name: string, content: Content): void {
    const incarnation = this.objects.get(name)?.incarnation ?? ++this.#incarnation;
    this.objects.set(name, { content, version: ++this.#version, incarnation });
    this.history.push(`${name} ${JSON.stringify(content)}`);
  }

  delete(name: string): void {
    this.objects.delete(name);
    this.history.push(`${name} gone`);
  }
}

/** Both ways to the same datastore, and what each has read. */
export class Real {
  readonly writers: readonly Datastore[];
  readonly held: readonly Map<string, Held>[];

  constructor(writers: readonly Datastore[]) {
    this.writers = writers;
    this.held = writers.map(() => new Map());
  }

  of(writer: number): Datastore {
    const datastore = this.writers[writer];
    if (datastore === undefined) throw new Error(`no writer ${writer}`);
    return datastore;
  }

  hold(writer: number, model: Model, name: string, object: StoredObject): void {
    const { version, incarnation } = model.objects.get(name) ?? { version: 0, incarnation: 0 };
    this.held[writer]?.set(name, { object, version, incarnation });
  }
}

const kind = "Tier";
const idOf = (name: string) => ({ namespace: "", name });

export function contentOf(object: StoredObject): Content {
  const { spec, metadata, status } = Object(object.value);
  return { order: Object(spec).order, labels: { ...metadata.labels }, status: Object(status).count };
}

function tierOf(name: string, { order, labels, status }: Content): object {
  return {
    apiVersion: "projectcalico.org/v3",
    kind,
    metadata: { name, labels },
    spec: { order },
    ...(status === undefined ? {} : { status: { count: status } }),
  };
}

abstract class Command implements fc.AsyncCommand<Model, Real> {
  readonly writer: number;
  readonly name: string;

  constructor(writer: number, name: string) {
    this.writer = writer;
    this.name = name;
  }

  check(): boolean {
    return true;
  }

  abstract run(model: Model, real: Real): Promise<void>;

  toString(): string {
    return `${this.constructor.name}(${Object.values(this)
      .map((value) => JSON.stringify(value))
      .join(", ")})`;
  }

  /** The outcome must be what the model says, and after it the datastore must hold what the model holds. */
  protected async compare(model: Model, real: Real, does: Does): Promise<void> {
    const outcome = await does.really(real.of(this.writer)).then(
      (object) => ({ is: "done", object }) as const,
      (error: { code?: string }) => ({ is: error.code ?? String(error) }) as const,
    );
    equal(outcome.is, does.expected, this.toString());
    if (outcome.is === "done") does.inModel();
    for (const datastore of real.writers) {
      const stored = await datastore.get(kind, idOf(this.name));
      const known = model.objects.get(this.name);
      deepEqual(stored === undefined ? undefined : contentOf(stored), known?.content, this.toString());
    }
    if ("object" in outcome && outcome.object !== undefined) real.hold(this.writer, model, this.name, outcome.object);
  }

  protected expectedAt(model: Model, held: Held | undefined): string {
    const known = model.objects.get(this.name);
    if (known === undefined) return "not-found";
    return held === undefined || held.version === known.version ? "done" : "conflict";
  }
}

type Does = {
  readonly expected: string;
  readonly really: (datastore: Datastore) => Promise<StoredObject | undefined>;
  /** What it does to the model. */
  readonly inModel: () => void;
};

class Read extends Command {
  async run(model: Model, real: Real): Promise<void> {
    const really = (datastore: Datastore) => datastore.get(kind, idOf(this.name));
    await this.compare(model, real, { expected: "done", really, inModel: () => undefined });
  }
}

class Create extends Command {
  readonly order: number;

  constructor(writer: number, name: string, order: number) {
    super(writer, name);
    this.order = order;
  }

  async run(model: Model, real: Real): Promise<void> {
    const content = { order: this.order, labels: {}, status: undefined };
    await this.compare(model, real, {
      expected: model.objects.has(this.name) ? "exists" : "done",
      really: (datastore) => datastore.create(kind, tierOf(this.name, content)),
      inModel: () => model.set(this.name, content),
    });
  }
}

class Change extends Command {
  readonly part: "object" | "status";
  readonly order: number;

  constructor(writer: number, name: string, part: "object" | "status", order: number) {
    super(writer, name);
    this.part = part;
    this.order = order;
  }

  async run(model: Model, real: Real): Promise<void> {
    const held = real.held[this.writer]?.get(this.name);
    if (held === undefined) return;
    const before = contentOf(held.object);
    const content = this.part === "status" ? { ...before, status: this.order } : { ...before, order: this.order };
    const changed = { ...held.object, value: tierOf(this.name, content) };
    await this.compare(model, real, {
      expected: this.expectedAt(model, held),
      really: (datastore) =>
        this.part === "status" ? datastore.updateStatus(kind, changed) : datastore.update(kind, changed),
      inModel: () => model.set(this.name, content),
    });
  }
}

class PatchIt extends Command {
  readonly label: string | null;
  readonly part: "metadata" | "status";
  readonly isAtRevision: boolean;

  constructor(writer: number, name: string, label: string | null, part: "metadata" | "status", isAtRevision: boolean) {
    super(writer, name);
    this.label = label;
    this.part = part;
    this.isAtRevision = isAtRevision;
  }

  async run(model: Model, real: Real): Promise<void> {
    const held = this.isAtRevision ? real.held[this.writer]?.get(this.name) : undefined;
    const patch: Patch =
      this.part === "metadata"
        ? { metadata: { labels: { a: this.label } } }
        : { status: { count: this.label?.length ?? 0 } };
    const options = held === undefined ? {} : { revision: held.object.revision };
    await this.compare(model, real, {
      expected: this.expectedAt(model, held),
      really: (datastore) => datastore.patch(kind, idOf(this.name), patch, options),
      inModel: () => model.set(this.name, this.#patched(model)),
    });
  }

  #patched(model: Model): Content {
    const { order = 0, labels = {}, status } = model.objects.get(this.name)?.content ?? {};
    if (this.part === "status") return { order, labels, status: this.label?.length ?? 0 };
    const { a: _, ...others } = labels;
    return { order, labels: this.label === null ? others : { ...others, a: this.label }, status };
  }
}

class Delete extends Command {
  readonly named: "nothing" | "revision" | "uid" | "both";

  constructor(writer: number, name: string, named: "nothing" | "revision" | "uid" | "both") {
    super(writer, name);
    this.named = named;
  }

  async run(model: Model, real: Real): Promise<void> {
    const held = real.held[this.writer]?.get(this.name);
    const uid = String(Object(Object(held?.object.value).metadata).uid);
    const isRevisionNamed = held !== undefined && (this.named === "revision" || this.named === "both");
    const isUidNamed = held !== undefined && (this.named === "uid" || this.named === "both");
    const known = model.objects.get(this.name);
    const isOther = isUidNamed && known !== undefined && known.incarnation !== held.incarnation;
    await this.compare(model, real, {
      expected: isOther ? "conflict" : this.expectedAt(model, isRevisionNamed ? held : undefined),
      really: async (datastore) => {
        await datastore.delete(kind, idOf(this.name), {
          ...(isRevisionNamed ? { revision: held.object.revision } : {}),
          ...(isUidNamed ? { uid } : {}),
        });
        return undefined;
      },
      inModel: () => model.delete(this.name),
    });
  }
}

/** Both writers at once, each through edit(): the sum of both is there afterwards. */
class EditTogether extends Command {
  readonly counts: number;

  constructor(writer: number, name: string, counts: number) {
    super(writer, name);
    this.counts = counts;
  }

  async run(model: Model, real: Real): Promise<void> {
    const before = model.objects.get(this.name)?.content ?? { order: 0, labels: {}, status: undefined };
    const addOne = (current: StoredObject | undefined) => {
      const content = current === undefined ? before : contentOf(current);
      return { value: tierOf(this.name, { ...content, order: content.order + 1 }) };
    };
    await Promise.all(
      real.writers.map(async (datastore) => {
        for (let i = 0; i < this.counts; i++) await edit(datastore, kind, idOf(this.name), addOne);
      }),
    );
    for (let i = 1; i <= real.writers.length * this.counts; i++) {
      model.set(this.name, { ...before, order: before.order + i });
    }
    await new Read(this.writer, this.name).run(model, real);
  }
}

const writer = fc.nat({ max: 1 });
const name = fc.constantFrom("a", "ab", "b");
const order = fc.integer({ min: 1, max: 9 });

export const commands = fc.commands(
  [
    fc.tuple(writer, name).map((made) => new Read(...made)),
    fc.tuple(writer, name, order).map((made) => new Create(...made)),
    fc
      .tuple(writer, name, fc.constantFrom("object" as const, "status" as const), order)
      .map((made) => new Change(...made)),
    fc
      .tuple(
        writer,
        name,
        fc.option(fc.constantFrom("x", "yy")),
        fc.constantFrom("metadata" as const, "status" as const),
        fc.boolean(),
      )
      .map((made) => new PatchIt(...made)),
    fc
      .tuple(writer, name, fc.constantFrom("nothing" as const, "revision" as const, "uid" as const, "both" as const))
      .map((made) => new Delete(...made)),
    fc.tuple(writer, name, fc.integer({ min: 1, max: 4 })).map((made) => new EditTogether(...made)),
  ],
  { maxCommands: 60 },
);
