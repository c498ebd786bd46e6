// The part of the agent that answers for the plugins: it has open what each call needs, so that the program a runtime starts only has to ask.
// It serves what it would do exactly as the plugin itself would: the same node, the same namespaces, the same IPAM plugin, the same datastore. Everything
// else it hands back, and the plugin does the work.
//
// A caller who hangs up (a runtime that gave up) ends his ADD, which is undone. When the part ends, calls under way are first waited for, then ended;
// connections are cut only after them. So a plugin whose connection breaks knows that nobody works for it any more, and starts over by itself.
import { chmodSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isRecord, messageOf, passAbort } from "../../../base/lib/index.ts";
import { makeFoldersSync, whoMayReplace } from "../../../base/linux/files.ts";
import { answerCalls } from "../../../base/linux/index.ts";
import { createNetwork } from "../../endpoints/index.ts";
import type { Part, PartWorld } from "../../part/index.ts";
import { readNetworkConfiguration } from "../configuration.ts";
import { createIpamPlugin } from "../ipam/ipam-plugin.ts";
import { nodeNameOf } from "../node-name.ts";
import { createCalicoPlugin } from "../plugin/calico-plugin.ts";
import { readArguments } from "../protocol/arguments.ts";
import { runPlugin } from "../protocol/run-plugin.ts";
import { OneAtATime } from "./one-at-a-time.ts";
import { type ResidentAnswer, type ResidentRequest, readResidentRequest, residentCall } from "./request.ts";
import { openResidentBacking, type ResidentBacking } from "./resident-backing.ts";
import { SameDatastore } from "./same-datastore.ts";

export type CniPartOptions = {
  /** The socket's path; its folder becomes this user's alone. Also bin/cni-plugin.cjs and docs/reference/cni.md say the usual one. */
  readonly socket?: string | undefined;
  readonly version: string;
};

export const usualCniSocket = "/var/run/calico/cattail/cni.sock";

/** A runtime gives a call two minutes. */
const answerLimitMs = 115_000;
const mostCalls = 1_024;
/** So long calls under way may go on when the part ends; then those that add are ended and undone. */
const graceMs = 10_000;
const ownNamespace = "/proc/self/ns/net";
const reportEveryMs = 5_000;

export function cniPart(options: CniPartOptions): Part {
  return { name: "cni", run: (world, signal) => run(options, world, signal) };
}

async function run({ socket = usualCniSocket, version }: CniPartOptions, world: PartWorld, signal: AbortSignal) {
  if (!(await safeFolder(socket, world, signal))) return;
  const ending = new AbortController();
  const { clock, node, log } = world;
  const warn = (text: string) => log.warn(text);
  await using backing = openResidentBacking({
    datastore: await world.datastore(),
    ...{ node, clock, warn, random: Math.random, signal: ending.signal },
  });
  const calls = new ResidentCalls({ world, version, backing });
  const server = await answerCalls({
    path: socket,
    log,
    answerLimitMs,
    maxConnections: mostCalls,
    answer: async ({ call, body }, hangUp) =>
      call === residentCall
        ? await calls.answer(body, hangUp)
        : notMine(`there is no call ${JSON.stringify(call)} here`),
  });
  log.info("the CNI plugins are answered", { socket });
  try {
    await untilAborted({ backing, socket }, world, signal);
  } finally {
    await calls.end();
    await server[Symbol.asyncDispose]();
    ending.abort();
  }
}

type Answering = { readonly backing: ResidentBacking; readonly socket: string };

/** Why plugins, which run as root, pass over a socket that is there. Undefined: they do not. */
function whyNotAsked(socket: string): string | undefined {
  const uid = process.getuid?.() ?? 0;
  if (uid !== 0) return `plugins that run as root do their work themselves: this agent is user ${uid}`;
  try {
    const why = whoMayReplace(socket);
    return why === undefined ? undefined : `the plugins do their work themselves: ${why}`;
  } catch (error) {
    return `the plugins find no socket: ${messageOf(error)}`;
  }
}

/** Health is said again and again: silence counts as a fault. */
async function untilAborted({ backing, socket }: Answering, world: PartWorld, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const cold = backing.isWarm ? undefined : "the datastore is not watched: calls work, with more requests";
    world.health.report({ live: true, ready: true, detail: whyNotAsked(socket) ?? cold ?? "" });
    const pause = world.clock.sleep(reportEveryMs, signal).catch(() => undefined);
    await Promise.race([pause, backing.running]);
  }
}

type CallsOptions = { readonly world: PartWorld; readonly version: string; readonly backing: ResidentBacking };

class ResidentCalls {
  readonly #options: CallsOptions;
  readonly #same: SameDatastore;
  readonly #network = createNetwork();
  readonly #queue = new OneAtATime();
  readonly #stop = new AbortController();
  #isEnding = false;

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#same = new SameDatastore(() => options.world.datastore(), options.world.clock);
  }

  async answer(body: unknown, hangUp: AbortSignal): Promise<ResidentAnswer & { readonly protocol: number }> {
    const request = readResidentRequest(body);
    if (typeof request === "string") return notMine(request);
    if (this.#isEnding) return notMine("the agent is ending");
    // In the order in which they came, and before anything is waited for: a DEL whose runtime was killed must not overtake the ADD after it.
    return await this.#queue.run(subjectOf(request), async () => {
      if (hangUp.aborted) return notMine("the caller has gone");
      const why = await this.#whyNotMine(request);
      if (why !== undefined) return notMine(why);
      const ending = new AbortController();
      using _passing = passAbort(hangUp, ending);
      using _stopping = passAbort(this.#stop.signal, ending);
      return await this.#work(request, ending.signal);
    });
  }

  /** Whoever asks after this is sent away; whoever has asked is answered. */
  async end(): Promise<void> {
    this.#isEnding = true;
    const late = this.#options.world.clock.sleep(graceMs, this.#stop.signal).catch(() => undefined);
    await Promise.race([this.#queue.idle(), late]);
    this.#stop.abort(new Error("the agent is ending"));
    await this.#queue.idle();
    await new Promise((resolve) => setImmediate(resolve)); // so that the last answer is written before its connection is cut
  }

  async #work(request: ResidentRequest, signal: AbortSignal) {
    const { variables, stdin, plugin, ipam } = request;
    const { world, version, backing } = this.#options;
    const warnings: string[] = [];
    const create = plugin === "calico" ? createCalicoPlugin : createIpamPlugin;
    const worker = create({
      variables,
      version,
      clock: world.clock,
      random: Math.random,
      warn: (text) => void warnings.push(`${text}\n`),
      isOwnFile: (file) => ipam?.isOwn === true && file === ipam.file,
      network: this.#network,
      backing: { open: async (configuration) => backing.lend(configuration) },
      signal,
    });
    const { exitCode, stdout, stderr } = await runPlugin(worker, variables, async () => stdin);
    return { protocol: 1, is: "answered", exitCode, stdout, stderr: warnings.join("") + stderr } as const;
  }

  /** Undefined: it is. What is wrong with the call itself is answered as always. */
  async #whyNotMine({ variables, stdin, seen, ipam }: ResidentRequest): Promise<string | undefined> {
    const node = idOf(ownNamespace);
    if (seen.node !== node) return "the plugin runs in another network namespace than the agent";
    const { CNI_NETNS: netns = "" } = variables;
    if (netns !== "" && idOf(netns) !== seen.pod) return `the agent does not see the namespace ${netns}`;
    if (ipam !== undefined && idOf(ipam.file) !== ipam.id) return `the agent does not see the file ${ipam.file}`;
    try {
      const configuration = parsed(stdin);
      if (configuration === undefined) return undefined;
      const network = readNetworkConfiguration(configuration, variables);
      const name = await nodeNameOf(network);
      if (name !== this.#options.world.node) return `the agent is node ${this.#options.world.node}, not ${name}`;
      const sameness = await this.#same.compare(network.datastore());
      return sameness.is === "same" ? undefined : sameness.why;
    } catch (error) {
      return messageOf(error); // the plugin says it better
    }
  }
}

/** Calls about one thing wait for each other: a pod, whose sandboxes share the node's end of the interface, or a container that is in none. */
function subjectOf({ variables }: ResidentRequest): string {
  const { CNI_ARGS: args = "", CNI_CONTAINERID: container = "" } = variables;
  try {
    const { pod } = readArguments(`IgnoreUnknown=1;${args}`.replace(/;$/, ""));
    return pod === undefined ? `container ${container}` : `pod ${pod.namespace}/${pod.name}`;
  } catch {
    return `container ${container}`; // refused in a moment, in the right words
  }
}

/** Undefined: it is refused for what it is, before any datastore is asked. */
function parsed(stdin: string): { readonly [name: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(stdin);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function notMine(why: string) {
  return { protocol: 1, is: "not mine", why } as const;
}

/** Undefined: there is none, or it cannot be seen. */
function idOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/**
 * Makes the socket's folder this user's alone. A folder above it may be another user's, as after `node hostpath-init`, who could then put a socket of his
 * own in its place: no plugin would trust what it finds there. So there is no socket, until the folder is given back; the plugins do their work
 * themselves, which is slower and no fault of the node. False: the signal came first.
 */
async function safeFolder(socket: string, { clock, health, log }: PartWorld, signal: AbortSignal): Promise<boolean> {
  const folder = dirname(socket);
  for (let said: string | undefined; ; ) {
    makeFoldersSync(folder, 0o700);
    const why = whoMayReplace(socket);
    if (why === undefined) break;
    if (why !== said)
      log.warn("The CNI plugins are not answered, and do their work themselves: their socket would not be safe", {
        socket,
        reason: why,
        next: unsafeSocketNext,
      });
    said = why;
    health.report({ live: true, ready: true, detail: `the plugins are not answered: ${why}` });
    await clock.sleep(reportEveryMs, signal).catch(() => undefined);
    if (signal.aborted) return false;
  }
  chmodSync(folder, 0o700);
  return true;
}

const unsafeSocketNext =
  "Give the folder back to root (chown 0:0 FOLDER; chmod go-w FOLDER) where no program of that user needs it, or set CATTAIL_CNI_SOCKET, for the agent and the plugins, to a path in a folder of root's";
