// ctl cluster diags: the cluster's objects and the logs of Calico's pods in one archive, asked for at the API server itself. What cannot be had is
// said, and in the archive's own list of errors; the rest is collected.
//
//   calico-diagnostics-TIME/cluster/version.json, crd/*.yaml, kubernetes/*.yaml     nodes/NODE/NAMESPACE/POD.yaml, POD.CONTAINER[.previous].log
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRecord, messageOf, writeJson } from "../../../base/lib/index.ts";
import type { KubernetesDatastore } from "../../../calico/datastore/index.ts";
import { Bundle, stamp } from "../archive/bundle.ts";
import type { Run } from "../command.ts";
import { type Console, CtlError } from "../console.ts";
import { writeYaml } from "../yaml/write-yaml.ts";
import { type ChosenPod, choosePods, isNamedAfterCalico } from "./choose-pods.ts";
import { type DiagsOptions, diagsOptions } from "./diags-options.ts";
import { addFromNodePod, hasKubectl } from "./in-node-pods.ts";
import { type ListedKind, listedKinds } from "./listed-kinds.ts";
import { withoutSecrets } from "./without-secrets.ts";

/** Of one container; the server leaves out what is older. */
const mostLogBytes = 32 << 20;
const mostObjects = 100_000;

export const run: Run = async (invocation, console) => {
  const options = diagsOptions(invocation);
  const { datastore, type } = await invocation.connect();
  if (type !== "kubernetes" || !("api" in datastore)) {
    throw new CtlError(`cluster diags asks a Kubernetes API server; this datastore is ${type}`);
  }
  const { api } = datastore as KubernetesDatastore; // only an API server has one
  const { out, signal } = console;
  const version = await api.json({ method: "GET", path: "/version", signal }); // nobody there: no archive
  out("==== Begin collecting diagnostics. ====\n");
  const root = `calico-diagnostics-${stamp(Date.now())}`;
  const path = `./${root}.tar.gz`;
  const keptIn = options.keepsFiles ? await mkdtemp(join(tmpdir(), "calico")) : undefined;
  if (keptIn !== undefined) out(`Created temporary directory: ${keptIn}\n`);
  const bundle = new Bundle({ path, root, keptIn, nowMs: () => Date.now() });
  try {
    await bundle.add("cluster/version.json", `${writeJson(version)}\n`);
    await new Collector({ api, bundle, options, console }).collect();
    out("\n==== Producing a diagnostics bundle. ====\n");
    await bundle.close();
  } catch (error) {
    await bundle.discard();
    throw error;
  }
  out(`Diagnostic bundle created at ${path}\n`);
  return 0;
};

type CollectorParts = {
  readonly api: KubernetesDatastore["api"];
  readonly bundle: Bundle;
  readonly options: DiagsOptions;
  readonly console: Console;
};

class Collector {
  readonly #parts: CollectorParts;
  readonly #errors: string[] = [];

  constructor(parts: CollectorParts) {
    this.#parts = parts;
  }

  async collect(): Promise<void> {
    const { api, options, console, bundle } = this.#parts;
    const failed = (what: string, error: unknown) => this.#failed(what, error);
    console.out("Collecting Calico's and Kubernetes' resources...\n");
    const kinds = await listedKinds(api, { signal: console.signal, failed });
    await this.#each(kinds, (kind) => this.#addList(kind));
    // Of the others' ConfigMaps nobody knows what is in them.
    await this.#addList({ path: "/api/v1/configmaps", file: "cluster/kubernetes/configmaps.yaml" }, isNamedAfterCalico);
    const pods = choosePods(
      await this.#items("/api/v1/pods").catch((error) => this.#failed("listing pods", error)),
      options,
    );
    await this.#each(pods, (pod) => this.#addPod(pod));
    await this.#addNodes(pods.filter(({ isNode }) => isNode));
    if (this.#errors.length > 0) await bundle.add("errors.txt", this.#errors.map((line) => `${line}\n`).join(""));
  }

  async #addList({ path, file }: ListedKind, isWanted: (item: unknown) => boolean = () => true): Promise<void> {
    try {
      const items = (await this.#items(path)).filter(isWanted).map(withoutSecrets);
      await this.#parts.bundle.add(file, writeYaml({ apiVersion: "v1", kind: "List", items }));
    } catch (error) {
      this.#failed(`listing ${path}`, error);
    }
  }

  async #addPod(pod: ChosenPod): Promise<void> {
    const { bundle, console } = this.#parts;
    const { namespace, name, node } = pod;
    console.out(`Collecting detailed diags for pod ${name} in namespace ${namespace} on node ${node}...\n`);
    const folder = `nodes/${node}/${namespace}`;
    await bundle.add(`${folder}/${name}.yaml`, writeYaml(withoutSecrets(pod.object)));
    for (const container of pod.containers) await this.#addLog(pod, container, `${folder}/${name}.${container}.log`);
    for (const container of pod.restarted) {
      await this.#addLog(pod, container, `${folder}/${name}.${container}.previous.log`, { previous: "true" });
    }
  }

  async #addLog(
    { namespace, name }: ChosenPod,
    container: string,
    file: string,
    more: { readonly [parameter: string]: string } = {},
  ): Promise<void> {
    const { api, bundle, options, console } = this.#parts;
    const { sinceSeconds } = options;
    const query = new URLSearchParams({
      container,
      limitBytes: String(mostLogBytes),
      ...(sinceSeconds === 0 ? {} : { sinceSeconds: String(sinceSeconds) }),
      ...more,
    });
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/log?${query}`;
    try {
      const answer = await api.open({ method: "GET", path, signal: console.signal });
      await bundle.add(file, await bytesOf(answer, mostLogBytes + 1024));
    } catch (error) {
      this.#failed(`reading the log of ${namespace}/${name}, container ${container}`, error);
    }
  }

  async #addNodes(pods: readonly ChosenPod[]): Promise<void> {
    const { bundle, console } = this.#parts;
    if (pods.length === 0) return;
    if (!(await hasKubectl(console))) {
      console.out("There is no kubectl here: for the rules and routes of a node, run `ctl node diags` on it.\n");
      return;
    }
    await this.#each(pods, async (pod) => {
      console.out(`Collecting dataplane diags for calico-node: ${pod.name}\n`);
      await addFromNodePod(bundle, pod, console);
    });
  }

  /** Page by page. */
  async #items(path: string): Promise<unknown[]> {
    const { api, console } = this.#parts;
    const found: unknown[] = [];
    let token = "";
    do {
      const query = new URLSearchParams({ limit: "500", ...(token === "" ? {} : { continue: token }) });
      const answer = await api.json({ method: "GET", path: `${path}?${query}`, signal: console.signal });
      const { items, metadata } = isRecord(answer) ? answer : { items: [], metadata: {} };
      if (Array.isArray(items)) found.push(...items);
      token = isRecord(metadata) && typeof metadata.continue === "string" ? metadata.continue : "";
    } while (token !== "" && found.length < mostObjects);
    return found;
  }

  /** So many at a time. */
  async #each<T>(things: readonly T[], doing: (thing: T) => Promise<void>): Promise<void> {
    const waiting = [...things];
    const work = async () => {
      for (let thing = waiting.shift(); thing !== undefined; thing = waiting.shift()) await doing(thing);
    };
    await Promise.all(Array.from({ length: Math.min(this.#parts.options.atOnce, things.length) }, work));
  }

  #failed(what: string, error: unknown): [] {
    this.#parts.console.signal.throwIfAborted();
    const line = `ERROR ${what}: ${messageOf(error)}`;
    this.#errors.push(line);
    this.#parts.console.out(`${line}\n`);
    return [];
  }
}

type Answer = Awaited<ReturnType<KubernetesDatastore["api"]["open"]>>;

async function bytesOf(answer: Answer, most: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > most) {
      answer.destroy();
      break;
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
