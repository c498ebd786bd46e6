// Plays a case: a datastore with its objects, a namespace, a BIRD and our part for each node, the outside routers; then waits until the facts are those
// that were recorded, and stay so.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../../src/base/lib/index.ts";
import { createMemoryDatastore, type MemoryDatastore } from "../../../src/calico/datastore/index.ts";
import type { Kind } from "../../../src/calico/kinds/index.ts";
import { birdOptions, birdPart } from "../../../src/node/bird/index.ts";
import type { BgpCase, CaseNode, KubeObject, MachineFacts, Stage, StageFacts } from "./case.ts";
import { CaseBird, kernelFacts, writeTor } from "./daemon.ts";
import { CaseNetwork } from "./network.ts";
import { TestFeed, type TestWorld, testWorld } from "./world.ts";

/** Programs of BIRD 1.6, where they are to be used for the nodes. */
export type Bird16 = { readonly bird: string; readonly bird6: string };

export type PlayOptions = {
  readonly log?: Log;
  readonly bird16?: Bird16;
  readonly env?: { readonly [name: string]: string };
  /** Whether this node's BIRD is started here; of others it is the test's to start. */
  readonly starts?: (node: string) => boolean;
};

export class PlayedCase implements AsyncDisposable {
  readonly datastore: MemoryDatastore;
  readonly network = new CaseNetwork();
  readonly folder = mkdtempSync(join(tmpdir(), "cattail-bgp-"));
  readonly birds = new Map<string, readonly CaseBird[]>();
  readonly namespaces = new Map<string, string>();
  readonly worlds = new Map<string, TestWorld>();
  readonly #feed: TestFeed;
  readonly #ends = new AbortController();
  readonly #parts: Promise<void>[] = [];
  readonly #options: PlayOptions;
  #before: ReadonlyMap<string, string> | undefined;

  private constructor(datastore: MemoryDatastore, options: PlayOptions) {
    this.datastore = datastore;
    this.#feed = new TestFeed(datastore);
    this.#options = options;
  }

  static async start(played: BgpCase, options: PlayOptions = {}): Promise<PlayedCase> {
    const datastore = createMemoryDatastore();
    for (const node of played.nodes) if (node.objectMissing !== true) await datastore.put("Node", nodeObject(node));
    for (const object of played.objects ?? []) await put(datastore, object);
    const run = new PlayedCase(datastore, options);
    for (const tor of played.tors ?? []) {
      const namespace = run.network.machine(tor.name, tor);
      writeTor(join(run.folder, tor.name), tor);
      run.birds.set(tor.name, [new CaseBird({ namespace, folder: join(run.folder, tor.name) })]);
    }
    for (const node of played.nodes) if (node.absent !== true) run.#startNode(node);
    return run;
  }

  #startNode(node: CaseNode): void {
    const { bird16 } = this.#options;
    const namespace = this.network.machine(node.name, node);
    const folder = join(this.folder, node.name);
    mkdirSync(folder);
    this.namespaces.set(node.name, namespace);
    const generation = bird16 === undefined ? 2 : 1;
    const birds = [new CaseBird({ namespace, folder, generation, program: bird16?.bird ?? "bird" })];
    if (bird16 !== undefined)
      birds.push(new CaseBird({ namespace, folder, generation, program: bird16.bird6, name: "bird6" }));
    this.birds.set(node.name, birds);
    const environment = {
      ...process.env,
      BIRD_CONFIG_DIR: folder,
      BIRD_CTL: join(folder, "bird.ctl"),
      BIRD6_CTL: join(folder, "bird6.ctl"),
      CALICO_ENDPOINT_STATUS_PATH_PREFIX: join(folder, "run"),
      ...(bird16 === undefined ? {} : { CATTAIL_BIRD: bird16.bird, CATTAIL_BIRD6: bird16.bird6 }),
      ...this.#options.env,
      ...node.env,
    };
    const { log } = this.#options;
    const world = testWorld({
      node: node.name,
      feed: this.#feed.feed,
      datastore: this.datastore,
      ...(log === undefined ? {} : { log }),
    });
    this.worlds.set(node.name, world);
    this.#parts.push(birdPart(birdOptions(environment, { supervises: false })).run(world, this.#ends.signal));
  }

  async stage({ apply = [], nodes = [], delete: deleted = [] }: Stage): Promise<void> {
    for (const object of apply) await put(this.datastore, object);
    for (const node of nodes) await this.datastore.put("Node", nodeObject(node));
    for (const [kind, name, namespace] of deleted) {
      const isIn = ["Service", "EndpointSlice", "Secret"].includes(kind);
      await this.datastore.delete(kind as Kind, { name, namespace: isIn ? (namespace ?? "default") : "" }); // a kind of the case's own list
    }
  }

  async facts(): Promise<{ facts: StageFacts; since: ReadonlyMap<string, string> }> {
    const nodes: { [name: string]: MachineFacts } = {};
    const tors: { [name: string]: MachineFacts } = {};
    const since = new Map<string, string>();
    for (const [name, birds] of this.birds) {
      if (this.#options.starts?.(name) !== false) for (const bird of birds) bird.tick();
      const told = await Promise.all(birds.map((bird) => bird.facts()));
      for (const each of told) for (const [peer, time] of each.since) since.set(`${name} ${peer}`, time);
      const sessions = told.flatMap((each) => each.sessions ?? []);
      const received = Object.assign({}, ...told.map((each) => each.received));
      const namespace = this.namespaces.get(name);
      if (namespace === undefined) tors[name] = { sessions, received };
      else nodes[name] = { sessions, received, kernel: kernelFacts(namespace) };
    }
    return { facts: { nodes, tors }, since };
  }

  /**
   * What is still different when the time is over; nothing: it was as expected for as long as `holdMs`. The time is one that only a failure takes: a
   * BIRD that lost a session, as it does where it cannot run for a while, may wait four minutes before it tries again.
   */
  async settle(expected: StageFacts, { limitMs = 300_000, holdMs = 1_500 } = {}): Promise<readonly string[]> {
    const endMs = performance.now() + limitMs;
    let goodSinceMs: number | undefined;
    for (;;) {
      const { facts, since } = await this.facts();
      const differences = compareFacts(expected, facts);
      const nowMs = performance.now();
      goodSinceMs = differences.length > 0 ? undefined : (goodSinceMs ?? nowMs);
      if ((goodSinceMs !== undefined && nowMs - goodSinceMs >= holdMs) || nowMs > endMs) {
        const dropped = this.#before === undefined ? [] : droppedOf(expected.kept ?? [], this.#before, since);
        this.#before = since;
        return [...differences, ...(differences.length > 0 ? this.#silent() : []), ...dropped];
      }
      await sleep(150);
    }
  }

  /** Of daemons that do not run: why, for whoever looks for a difference. */
  #silent(): readonly string[] {
    return [...this.birds].flatMap(([name, birds]) =>
      birds.flatMap(({ end }) => (end === undefined ? [] : [`BIRD of ${name}: ${end}`])),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ends.abort();
    await Promise.allSettled(this.#parts);
    for (const birds of this.birds.values()) for (const bird of birds) await bird[Symbol.asyncDispose]();
    await this.#feed[Symbol.asyncDispose]();
    this.network[Symbol.dispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function nodeObject(node: CaseNode): object {
  const named = { ip: "IPv4Address", ip6: "IPv6Address", as: "ASNumber", rr: "RouteReflectorClusterID" } as const;
  const annotations = Object.entries(named).flatMap(([field, name]) => {
    const value = node[field as keyof typeof named]; // of the table's own names
    return value === undefined ? [] : [[`projectcalico.org/${name}`, `${value}`]];
  });
  const metadata = {
    name: node.name,
    labels: node.labels ?? {},
    annotations: { ...Object.fromEntries(annotations), ...node.annotations },
  };
  return { apiVersion: "v1", kind: "Node", metadata };
}

async function put(datastore: MemoryDatastore, object: KubeObject): Promise<void> {
  const isIn = ["Service", "EndpointSlice", "Secret"].includes(object.kind);
  const metadata = isIn ? { namespace: "default", ...object.metadata } : object.metadata;
  // What the API server does to a Secret that is written in plain text.
  const { stringData, ...rest } = object as { stringData?: { readonly [key: string]: string } } & KubeObject;
  const encoded = Object.entries(stringData ?? {}).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
  const data =
    stringData === undefined ? {} : { data: { ...(rest.data as object | undefined), ...Object.fromEntries(encoded) } };
  await datastore.put(object.kind as Kind, { ...rest, ...data, metadata }); // a kind of the case's own list
}

/** Differences as lines. */
function compareFacts(expected: StageFacts, got: StageFacts): readonly string[] {
  const lines: string[] = [];
  for (const group of ["nodes", "tors"] as const) {
    for (const [name, wanted] of Object.entries(expected[group] ?? {})) {
      const found = got[group][name];
      if (found === undefined) lines.push(`${name}: missing`);
      else
        for (const part of ["sessions", "kernel", "received"] as const)
          lines.push(...comparePart(`${name} ${part}`, wanted[part], found[part]));
    }
  }
  return lines;
}

function comparePart(what: string, wanted: unknown, found: unknown): readonly string[] {
  if (wanted === undefined) return [];
  const [want, have] = [entriesOf(wanted), entriesOf(found ?? [])];
  const optional = new Set(want.filter((each) => each.isOptional).map(({ text }) => text));
  const needed = want.filter((each) => !each.isOptional).map(({ text }) => text);
  const there = have.map(({ text }) => text).filter((text) => !optional.has(text));
  return [
    ...needed.filter((text) => !there.includes(text)).map((text) => `${what}: missing ${text}`),
    ...there.filter((text) => !needed.includes(text)).map((text) => `${what}: unexpected ${text}`),
  ];
}

function entriesOf(part: unknown): readonly { text: string; isOptional: boolean }[] {
  const flat = Array.isArray(part)
    ? part
    : Object.entries(part as { [peer: string]: object[] }).flatMap(([from, routes]) =>
        routes.map((route) => ({ from, ...route })),
      );
  return flat.map(({ optional, ...each }: { optional?: boolean }) => ({
    text: sorted(each),
    isOptional: optional === true,
  }));
}

function sorted(value: object): string {
  return JSON.stringify(Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** BIRD works the time out anew at each look, so it may move by a fraction of a second. */
function droppedOf(
  kept: readonly string[],
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): readonly string[] {
  const seconds = (text: string | undefined) => {
    const [, hours, minutes, rest] = /(\d\d):(\d\d):(\d\d(?:\.\d+)?)/.exec(text ?? "") ?? [];
    return Number(hours) * 3600 + Number(minutes) * 60 + Number(rest);
  };
  const isKept = (key: string) =>
    before.get(key) === now.get(key) || Math.abs(seconds(before.get(key)) - seconds(now.get(key))) < 1.5;
  return kept.filter((key) => before.has(key) && !isKept(key)).map((key) => `session dropped: ${key}`);
}
