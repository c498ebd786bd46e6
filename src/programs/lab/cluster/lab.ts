// A whole cluster in a world: datastore, Typha, an agent on each node, pods. It is held by one process (keeper.ts) for as long as the lab lives.
//
//   objects/ (folder) ◀── Typha, on the switch ◀── cattail node run, on each node ◀── CNI plugin, for each pod
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { CattailError, type JsonRecord, silentLog, systemClock } from "../../../base/lib/index.ts";
import {
  type Datastore,
  type DatastoreOptions,
  isDatastoreError,
  openDatastore,
} from "../../../calico/datastore/index.ts";
import type { Kind } from "../../../calico/kinds/index.ts";
import { openResources, type Resources } from "../../../calico/resources/index.ts";
import { filesOf, makeAuthority, makePair } from "../../../typha/certificates/index.ts";
import type { LabMode } from "../state.ts";
import {
  buildWorld,
  ended,
  installConfiguration,
  installedConfiguration,
  isWhole,
  type LabNode,
  type PingedPair,
  type Place,
  Pods,
  type PodWish,
  pairsOf,
  pingPairs,
  switchAddress,
  type World,
} from "../world/index.ts";
import { killBirds } from "./birds.ts";
import { launcher } from "./launcher.ts";
import {
  firstPods,
  namespaceObject,
  nodeObject,
  poolObject,
  pools,
  poolsAnnotation,
  secondPoolPod,
} from "./objects.ts";

export type LabOptions = {
  readonly folder: string;
  readonly nodes: number;
  readonly mode: LabMode;
  /** As the nodes reach it. */
  readonly datastore: DatastoreOptions;
  /** How nodes are told of it: variables of the agent, fields of the plugin's configuration. */
  readonly told: { readonly env: { readonly [name: string]: string }; readonly plugin: JsonRecord };
  /** Each node reaches the datastore on its own 127.0.0.1 by this. */
  readonly relay?: { readonly port: number; readonly socket: string };
  readonly say: (line: string) => void;
};

const typhaPort = 5473;
export const dashboardPort = 9094;
const startLimitMs = 60_000;

export class Lab implements AsyncDisposable {
  readonly options: LabOptions;
  readonly world: World;
  readonly pods: Pods;
  readonly datastore: Datastore;
  readonly resources: Resources;
  readonly #agents = new Map<string, ChildProcess>();
  #typha: ChildProcess | undefined;

  private constructor(options: LabOptions, parts: { world: World; datastore: Datastore }) {
    this.options = options;
    this.world = parts.world;
    this.datastore = parts.datastore;
    this.resources = openResources(parts.datastore);
    const { words } = launcher();
    this.pods = new Pods({
      world: this.world,
      datastore: this.datastore.flavour === "kubernetes" ? this.datastore : undefined,
      plugin: { before: words.slice(0, -1), folder: "/opt/cni/bin" },
      configuration: installedConfiguration,
      env: compileCache(),
    });
  }

  /** Everything but the pods. What was begun is ended when something fails. */
  static async start(options: LabOptions, isSwitchHere: boolean): Promise<Lab> {
    const { folder, nodes, say } = options;
    await using stack = new AsyncDisposableStack();
    const world = stack.use(await buildWorld({ folder, nodes, isSwitchHere }));
    say(`${nodes} nodes on a switch: ${world.nodes.map(({ name, address }) => `${name} ${address}`).join(", ")}`);
    const datastore = stack.use(await openDatastore(options.datastore, { clock: systemClock, log: silentLog }));
    const lab = new Lab(options, { world, datastore });
    // A switch that is this process's own network has it from whoever started this process.
    if (!isSwitchHere) lab.#relayAt(world.switch);
    await lab.#fillDatastore();
    say(`datastore: ${options.datastore.type}, with the pools ${pools.map(({ cidr }) => cidr).join(" and ")}`);
    await lab.#makeCertificates();
    lab.runTypha();
    say(`Typha on ${switchAddress(0)}:${typhaPort}, with certificates of its own`);
    await Promise.all(world.nodes.map((node) => lab.#furnish(node)));
    for (const { name } of world.nodes) lab.startAgent(name);
    await Promise.all(world.nodes.map((node) => lab.#untilRegistered(node)));
    say(`cattail node runs on ${world.nodes.map(({ name }) => name).join(", ")}`);
    stack.move();
    return lab;
  }

  /** The guide's pods; the last one after the second pool is enabled. */
  async addFirstPods(): Promise<void> {
    const { nodes } = this.world;
    const wanted = firstPods.flatMap(({ name, node }) => {
      const there = nodes[node - 1];
      return there === undefined ? [] : [{ name, node: there.name }];
    });
    const byNode = [...Map.groupBy(wanted, ({ node }) => node).values()];
    await Promise.all(
      byNode.map(async (group) => {
        for (const each of group) await this.addPod(each);
      }),
    );
    await this.setPool(pools[1].name, { disabled: false });
    const last = nodes[secondPoolPod.node - 1] ?? nodes.at(-1);
    const annotations = { [poolsAnnotation]: JSON.stringify([pools[1].name]) };
    if (last !== undefined) await this.addPod({ name: secondPoolPod.name, node: last.name, annotations });
  }

  async addPod(wish: PodWish): Promise<string> {
    const { name, node, address } = await this.pods.add({ labels: { app: "pingtest" }, ...wish });
    this.options.say(`pod ${name} on ${node}: ${address}`);
    return address;
  }

  async setPool(name: string, spec: JsonRecord): Promise<void> {
    await this.resources.edit("IPPool", { namespace: "", name }, (pool) =>
      pool === undefined ? "nothing" : { ...pool, spec: { ...pool.spec, ...spec } },
    );
  }

  async ping(): Promise<PingedPair[]> {
    const poolOf = (address: string) => (/^10\.244\.(19[2-9]|2\d\d)\./.test(address) ? pools[1].name : pools[0].name);
    return await pingPairs(pairsOf(this.world.ends(), this.pods.ends(poolOf)));
  }

  /** Until every ping is answered, or the time is up; the last matrix either way. */
  async pingUntilWhole(limitMs: number): Promise<PingedPair[]> {
    const endMs = performance.now() + limitMs;
    for (;;) {
      const pinged = await this.ping();
      if (pinged.every(isWhole) || performance.now() > endMs) return pinged;
    }
  }

  agentOf(name: string): ChildProcess | undefined {
    return this.#agents.get(name);
  }

  startAgent(name: string): void {
    const node = this.world.node(name);
    const { words } = launcher();
    const [program = "", ...args] = [...words, "node", "run"];
    const log = join(this.options.folder, "logs", `${name}.log`);
    this.#agents.set(name, node.start(program, args, { env: this.agentEnvironment(node), log }));
  }

  async stopAgent(name: string): Promise<void> {
    const agent = this.#agents.get(name);
    if (agent !== undefined) await ended(agent, "SIGTERM");
    this.#agents.delete(name);
  }

  runTypha(): void {
    const server = filesOf("server", this.#certificates);
    const { words } = launcher();
    const [program = "", ...args] = [...words, "typha"];
    const env = {
      PATH: process.env.PATH ?? "",
      ...compileCache(),
      ...typhaDatastore(this.options.datastore),
      TYPHA_WORKERS: "0",
      TYPHA_SERVERHOST: switchAddress(0),
      TYPHA_SERVERPORT: String(typhaPort),
      TYPHA_SERVERCERTFILE: server.certFile,
      TYPHA_SERVERKEYFILE: server.keyFile,
      TYPHA_CAFILE: filesOf("authority", this.#certificates).certFile,
      TYPHA_CLIENTCN: "calico-node",
      TYPHA_LOGFILEPATH: "none", // its output is its log, and the machine's folders are not the lab's
      TYPHA_HEALTHENABLED: "false",
      TYPHA_DASHBOARDENABLED: "true",
      TYPHA_DASHBOARDHOST: "127.0.0.1",
      TYPHA_DASHBOARDPORT: String(dashboardPort),
    };
    this.#typha = this.world.switch.start(program, args, { env, log: join(this.options.folder, "logs", "typha.log") });
  }

  async killTypha(): Promise<void> {
    if (this.#typha !== undefined) await ended(this.#typha, "SIGKILL");
  }

  /** Also what a doctor on the node is given. */
  agentEnvironment(node: LabNode): { readonly [name: string]: string } {
    const { mode, told } = this.options;
    const files = filesOf("client", this.#certificates);
    return {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "/root",
      ...compileCache(),
      NODENAME: node.name,
      ...told.env,
      IP: "autodetect",
      AUTODETECT_POLL_INTERVAL: "10m", // so that an address that somebody breaks stays broken
      NO_DEFAULT_POOLS: "true",
      CLUSTER_TYPE: "k8s,bgp",
      CALICO_NETWORKING_BACKEND: mode === "bgp" ? "bird" : "vxlan",
      CALICO_DISABLE_FILE_LOGGING: "true",
      CALICO_MANAGE_CNI: "false",
      ...(mode === "direct" ? { FELIX_PROGRAMCLUSTERROUTES: "Enabled" } : {}),
      FELIX_TYPHAADDR: `${switchAddress(0)}:${typhaPort}`,
      FELIX_TYPHACAFILE: filesOf("authority", this.#certificates).certFile,
      FELIX_TYPHACERTFILE: files.certFile,
      FELIX_TYPHAKEYFILE: files.keyFile,
      FELIX_TYPHACN: "calico-typha",
      FELIX_DEFAULTENDPOINTTOHOSTACTION: "ACCEPT",
      FELIX_IPV6SUPPORT: "false",
      FELIX_HEALTHENABLED: "true",
    };
  }

  status() {
    const { mode, folder, datastore } = this.options;
    return {
      mode,
      folder,
      datastore: datastore.type,
      typha: isRunning(this.#typha) ? "running" : "ended",
      nodes: this.world.nodes.map(({ name, address, place }) => ({
        name,
        address,
        pid: place.pid,
        agent: isRunning(this.#agents.get(name)) ? "running" : "not running",
      })),
      pods: this.pods.all.map(({ name, node, address, place }) => ({ name, node, address, pid: place.pid })),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pods[Symbol.asyncDispose]();
    await Promise.all([...this.#agents.keys()].map((name) => this.stopAgent(name)));
    for (const node of this.world.nodes) killBirds(node);
    await this.datastore[Symbol.asyncDispose]();
    await this.world[Symbol.asyncDispose]();
  }

  get #certificates(): string {
    return join(this.options.folder, "certs");
  }

  async #fillDatastore(): Promise<void> {
    const { mode } = this.options;
    if (this.datastore.flavour === "kubernetes") {
      await this.#createOnce("Namespace", namespaceObject("default"));
      for (const node of this.world.nodes) await this.#createOnce("Node", nodeObject(node));
    }
    for (const [i, pool] of pools.entries()) await this.resources.apply("IPPool", poolObject(pool, mode, i > 0));
  }

  async #createOnce(kind: Kind, object: JsonRecord): Promise<void> {
    try {
      await this.datastore.create(kind, object);
    } catch (error) {
      if (!isDatastoreError(error) || error.code !== "exists") throw error;
    }
  }

  async #makeCertificates(): Promise<void> {
    const folder = this.#certificates;
    const options = { folder, nowMs: systemClock.wallMs() };
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    await makeAuthority(options);
    await makePair("server", options);
    await makePair("client", options);
  }

  #relayAt(place: Place): void {
    const { relay, folder } = this.options;
    if (relay === undefined) return;
    const words = ["lab", "relay", `127.0.0.1:${relay.port}`, `unix:${relay.socket}`];
    const [program = "", ...args] = [...launcher().words, ...words];
    const env = { PATH: process.env.PATH ?? "", ...compileCache() };
    place.start(program, args, { env, log: join(folder, "logs", "relay.log") });
  }

  async #furnish(node: LabNode): Promise<void> {
    this.#relayAt(node.place);
    for (const name of ["calico", "calico-ipam"]) symlinkSync(launcher().file, node.path(`/opt/cni/bin/${name}`));
    await installConfiguration(node, {
      type: "calico",
      log_level: "info",
      log_file_path: "/var/log/calico/cni.log",
      ...this.options.told.plugin,
      mtu: 0,
      ipam: { type: "calico-ipam" },
      policy: { type: "k8s" },
    });
  }

  async #untilRegistered(node: LabNode): Promise<void> {
    const { name } = node;
    const file = node.path("/var/lib/calico/nodename");
    const endMs = performance.now() + startLimitMs;
    while (!existsSync(file)) {
      const agent = this.#agents.get(name);
      if (!isRunning(agent) || performance.now() > endMs) throw notStarted(name, this.options.folder);
      await systemClock.sleep(50);
    }
  }
}

function isRunning(child: ChildProcess | undefined): boolean {
  return child !== undefined && child.exitCode === null && child.signalCode === null && child.pid !== undefined;
}

/** What is compiled once is not compiled again by each of a dozen processes. */
function compileCache(): { [name: string]: string } {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}

function typhaDatastore(datastore: DatastoreOptions): { [name: string]: string } {
  switch (datastore.type) {
    case "directory":
      return { TYPHA_DATASTORETYPE: "directory", TYPHA_DATASTOREDIRECTORY: datastore.path };
    case "kubernetes":
      return { TYPHA_DATASTORETYPE: "kubernetes", KUBECONFIG: datastore.kubeconfig ?? "" };
    case "etcdv3":
      return { TYPHA_DATASTORETYPE: "etcdv3", TYPHA_ETCDENDPOINTS: datastore.endpoints.join(",") };
    case "memory":
      return { TYPHA_DATASTORETYPE: "memory" };
  }
}

function notStarted(name: string, folder: string): CattailError {
  const log = join(folder, "logs", `${name}.log`);
  const words = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").slice(-5).join("\n") : "";
  return new CattailError("LAB_AGENT", {
    problem: `the agent of ${name} did not register its node within ${startLimitMs / 1000} s. It last said:\n${words}\n`,
    next: `Its whole log is ${log}`,
  });
}
