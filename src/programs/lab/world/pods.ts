// The pods of a lab, as a kubelet and its runtime make them: an object, a namespace, and a call of the CNI plugin on the pod's node.
//
//   create Pod (spec.nodeName) ─▶ namespace ─▶ calico ADD, on the node ─▶ status.podIP
import { mkdirSync, readFileSync } from "node:fs";
import { CattailError, isRecord, type JsonRecord, parseJson } from "../../../base/lib/index.ts";
import { replaceFile } from "../../../base/linux/files.ts";
import type { Datastore } from "../../../calico/datastore/index.ts";
import type { PodEnd } from "./matrix.ts";
import { Place } from "./place.ts";
import type { LabNode, World } from "./world.ts";

export type PodsOptions = {
  readonly world: World;
  /** Where pods are objects: Kubernetes and folders. With etcd there are none. */
  readonly datastore: Datastore | undefined;
  /** A plugin is started as `[...plugin, "calico"]` would be: the words before, and the folder that its name is in. */
  readonly plugin: { readonly before: readonly string[]; readonly folder: string };
  /** The network configuration, as it lies in /etc/cni/net.d: a list's first plugin. */
  readonly configuration: (node: LabNode) => JsonRecord;
  readonly env?: { readonly [name: string]: string };
};

export type PodWish = {
  readonly name: string;
  readonly node: string;
  readonly namespace?: string;
  readonly labels?: { readonly [name: string]: string };
  readonly annotations?: { readonly [name: string]: string };
  /** Pools, where no object can ask for them by its annotations. */
  readonly ipam?: JsonRecord;
};

export type LabPod = {
  readonly name: string;
  readonly namespace: string;
  readonly node: string;
  readonly address: string;
  readonly address6?: string;
  readonly containerId: string;
  readonly place: Place;
};

export class Pods implements AsyncDisposable {
  readonly #options: PodsOptions;
  readonly #pods = new Map<string, LabPod>();
  #made = 0;

  constructor(options: PodsOptions) {
    this.#options = options;
  }

  get all(): readonly LabPod[] {
    return [...this.#pods.values()];
  }

  get(name: string): LabPod {
    const pod = this.#pods.get(name);
    if (pod !== undefined) return pod;
    const names = [...this.#pods.keys()].join(", ");
    throw new CattailError("LAB_NO_POD", {
      problem: `the lab has no pod ${JSON.stringify(name)}`,
      next: names === "" ? "Add one: cattail lab pod add NAME" : `It has ${names}`,
    });
  }

  /** `poolOf` says to which pool an address belongs. */
  ends(poolOf: (address: string) => string): PodEnd[] {
    return this.all.map(({ name, node, address, address6, place }) => ({
      name,
      node,
      address,
      ...(address6 === undefined ? {} : { address6 }),
      netns: place.netns,
      pool: poolOf(address),
    }));
  }

  /** Throws LAB_CNI with the plugin's own words when it refuses; then nothing is left of the pod. */
  async add(wish: PodWish): Promise<LabPod> {
    const { world, datastore } = this.#options;
    const { name, namespace = "default" } = wish;
    if (this.#pods.has(name))
      throw new CattailError("LAB_POD_EXISTS", {
        problem: `the lab has a pod ${name} already`,
        next: "Choose another name",
      });
    const node = world.node(wish.node);
    this.#made += 1;
    const containerId =
      datastore === undefined ? this.#plainId(name) : `${name}-${process.pid.toString(16)}-${this.#made}`;
    await datastore?.create("Pod", podObject(wish, namespace));
    await using stack = new AsyncDisposableStack();
    stack.defer(async () => await datastore?.delete("Pod", { namespace, name }, atOnce));
    const place = stack.use(await Place.make(`pod ${name}`, ["net"]));
    const call = { node, place, containerId, name, namespace, ...(wish.ipam === undefined ? {} : { ipam: wish.ipam }) };
    stack.defer(async () => void (await this.#call("DEL", call)));
    const result = await this.#call("ADD", call);
    const [address = "", address6] = addressesOf(result);
    if (datastore !== undefined) {
      const podIPs = [address, address6].flatMap((ip) => (ip === undefined ? [] : [{ ip }]));
      const status = { phase: "Running", podIP: address, podIPs };
      await datastore.patch("Pod", { namespace, name }, { status }, { through: "status" });
    }
    stack.move();
    const six = address6 === undefined ? {} : { address6 };
    const pod = { name, namespace, node: node.name, address, ...six, containerId, place };
    this.#pods.set(name, pod);
    return pod;
  }

  /** Without Kubernetes the container's id is the only name, and the first of its characters are the interface's. */
  #plainId(name: string): string {
    const start = (id: string) => id.slice(0, 11);
    const isTaken = this.all.some(({ containerId }) => start(containerId) === start(name));
    return isTaken ? `${this.#made}-${name}` : name;
  }

  async remove(name: string): Promise<void> {
    const { world, datastore } = this.#options;
    const { namespace, node, containerId, place } = this.get(name);
    await this.#call("DEL", { node: world.node(node), place, containerId, name, namespace });
    await datastore?.delete("Pod", { namespace, name }, atOnce);
    await place[Symbol.asyncDispose]();
    this.#pods.delete(name);
  }

  /** The namespaces only: for a world that goes with all it has. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map(({ place }) => place[Symbol.asyncDispose]()));
    this.#pods.clear();
  }

  async #call(
    command: "ADD" | "DEL" | "CHECK",
    { node, place, containerId, name, namespace, ipam }: Call,
  ): Promise<JsonRecord | undefined> {
    const { plugin, configuration, datastore, env = {} } = this.#options;
    const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${name};K8S_POD_INFRA_CONTAINER_ID=${containerId}`;
    const [program = "", ...words] = [...plugin.before, `${plugin.folder}/calico`];
    const { code, stdout, stderr } = await node.run(program, words, {
      stdin: JSON.stringify(withIpam(configuration(node), ipam)),
      alsoGood: [1],
      limitMs: 60_000,
      env: {
        PATH: process.env.PATH ?? "",
        HOME: "/root",
        ...env,
        CNI_COMMAND: command,
        CNI_CONTAINERID: containerId,
        CNI_NETNS: place.netns,
        CNI_IFNAME: "eth0",
        CNI_PATH: plugin.folder,
        // A runtime of Kubernetes says which pod it is, and the plugin looks for that.
        ...(datastore === undefined ? {} : { CNI_ARGS: args }),
      },
    });
    const said = stdout.trim() === "" ? undefined : parseJson(stdout);
    if (code !== 0) throw refused(command, name, isRecord(said) ? String(said.msg) : stderr.trim());
    return isRecord(said) ? said : undefined;
  }
}

/** No kubelet is there to say that it has gone. */
const atOnce = { gracePeriodSeconds: 0 } as const;

type Call = {
  node: LabNode;
  place: Place;
  containerId: string;
  name: string;
  namespace: string;
  ipam?: JsonRecord;
};

function withIpam(configuration: JsonRecord, ipam: JsonRecord | undefined): JsonRecord {
  const { ipam: usual } = configuration;
  return ipam === undefined
    ? configuration
    : { ...configuration, ipam: { ...(isRecord(usual) ? usual : {}), ...ipam } };
}

/** As an installation of the plugin leaves it on a node: the plugins of the list, with the name of the network. */
export async function installConfiguration(node: LabNode, plugin: JsonRecord): Promise<void> {
  const folder = node.path("/etc/cni/net.d");
  mkdirSync(folder, { recursive: true });
  const list = { name: "k8s-pod-network", cniVersion: "0.3.1", plugins: [plugin] };
  await replaceFile(`${folder}/10-calico.conflist`, `${JSON.stringify(list, undefined, 2)}\n`, { mode: 0o644 });
}

/** What lies there now, as a runtime reads it for each call. */
export function installedConfiguration(node: LabNode): JsonRecord {
  const read = parseJson(readFileSync(node.path("/etc/cni/net.d/10-calico.conflist"), "utf8"));
  const list = isRecord(read) ? read : {};
  const [plugin] = Array.isArray(list.plugins) ? list.plugins : [];
  return { name: list.name, cniVersion: list.cniVersion, ...(isRecord(plugin) ? plugin : {}) };
}

function podObject({ name, node, labels, annotations }: PodWish, namespace: string): JsonRecord {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec: { nodeName: node, serviceAccountName: "default", containers: [{ name: "pod", image: "lab" }] },
    status: { phase: "Pending" },
  };
}

/** IPv4's first, as the plugin gives them. */
function addressesOf(result: JsonRecord | undefined): string[] {
  const ips = Array.isArray(result?.ips) ? result.ips.filter(isRecord) : [];
  return ips.map(({ address }) => String(address).replace(/\/\d+$/, ""));
}

function refused(command: string, pod: string, words: string): CattailError {
  return new CattailError("LAB_CNI", {
    problem: `the CNI plugin refused to ${command === "ADD" ? "plug in" : "unplug"} the pod ${pod}: ${words}`,
    next: "Its own words say what is wrong; cattail lab doctor looks at the node",
  });
}
