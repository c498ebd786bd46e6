// A whole cluster in a world: datastore, Typha, an agent on each node, pods. It is held by one process (keeper.ts) for as long as the lab lives.
//
//   objects/ (folder) ◀── Typha, on the switch ◀── cattail node run, on each node ◀── CNI plugin, for each pod
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
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
import { refuseOthers, removeLeftovers } from "./leftovers.ts";
import {
  firstPods,
  labMark,
  namespaceObject,
  nodeObject,
  openProfile,
  poolObject,
  pools,
  pools6,
  poolsAnnotation,
  poolsAnnotation6,
  secondPoolPod,
} from "./objects.ts";

export type LabOptions = {
  readonly folder: string;
  readonly nodes: number;
  readonly mode: LabMode;
  /** IPv6 beside IPv4. */
  readonly isDualStack?: boolean;
  /** As the nodes reach it. */
  readonly datastore: DatastoreOptions;
  /** How nodes are told of it: variables of the agent, fields of the plugin's configuration. */
  readonly told: { readonly env: { readonly [name: string]: string }; readonly plugin: JsonRecord };
  /** Each node reaches the datastore on its own 127.0.0.1 by this. */
  readonly relay?: { readonly port: number; readonly socket: string };
  readonly say: (line: string) => void;
  /** Another agent than ours: started with these words on each node, and again whenever it ends by itself. */
  readonly agent?: { readonly words: readonly string[]; readonly env: { readonly [name: string]: string } };
};

const nodeNameFile = "/var/lib/calico/nodename";
const typhaPort = 5473;
export const dashboardPort = 9094;
/** Where each node answers the dashboard's server how it is. */
const reportPort = 9096;
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
    const { folder, nodes, isDualStack = false, say } = options;
    await using stack = new AsyncDisposableStack();
    const world = stack.use(await buildWorld({ folder, nodes, isSwitchHere, isDualStack }));
    say(
      `${nodes === 1 ? "one node" : `${nodes} nodes`} on a switch: ${world.nodes.map(({ name, address }) => `${name} ${address}`).join(", ")}`,
    );
    const datastore = stack.use(await openDatastore(options.datastore, { clock: systemClock, log: silentLog }));
    const lab = new Lab(options, { world, datastore });
    // A switch that is this process's own network has it from whoever started this process.
    if (!isSwitchHere) lab.#relayAt(world.switch);
    await lab.#fillDatastore();
    say(`datastore: ${options.datastore.type}, with the pools ${lab.pools.map(({ cidr }) => cidr).join(", ")}`);
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
    if (this.isDualStack) await this.setPool(pools6[1].name, { disabled: false });
    const inSecond = this.asking([pools[1].name, ...(this.isDualStack ? [pools6[1].name] : [])]);
    if (last !== undefined) await this.addPod({ name: secondPoolPod.name, node: last.name, ...inSecond });
  }

  async addPod(wish: PodWish): Promise<string> {
    const { name, node, address, address6 } = await this.pods.add({ labels: { ...labMark, app: "pingtest" }, ...wish });
    this.options.say(`pod ${name} on ${node}: ${address}${address6 === undefined ? "" : ` and ${address6}`}`);
    return address;
  }

  /** How a pod asks for pools: by its annotations, or where it is no object by the plugin's configuration. */
  asking(names: readonly string[]): Pick<PodWish, "annotations" | "ipam"> {
    const isSix = (name: string) => pools6.some((each) => each.name === name);
    const [four, six] = [names.filter((name) => !isSix(name)), names.filter(isSix)];
    if (this.datastore.flavour !== "kubernetes") return { ipam: { ipv4_pools: four, ipv6_pools: six } };
    return {
      annotations: {
        ...(four.length === 0 ? {} : { [poolsAnnotation]: JSON.stringify(four) }),
        ...(six.length === 0 ? {} : { [poolsAnnotation6]: JSON.stringify(six) }),
      },
    };
  }

  get isDualStack(): boolean {
    return this.options.isDualStack === true;
  }

  get pools(): readonly { readonly name: string; readonly cidr: string }[] {
    return [...pools, ...(this.isDualStack ? pools6 : [])];
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

  /** The one that the lab was given, if any, or ours. */
  startAgent(name: string, which: "given" | "ours" = "given"): void {
    const node = this.world.node(name);
    const agent = which === "ours" ? undefined : this.options.agent;
    const [program = "", ...args] = agent?.words ?? [...launcher().words, "node", "run"];
    const log = join(this.options.folder, "logs", `${name}.log`);
    const env = { ...this.agentEnvironment(node), ...agent?.env };
    const started = node.start(program, args, { env, log });
    this.#agents.set(name, started);
    if (agent === undefined) return;
    started.once("exit", () => {
      if (this.#agents.get(name) === started) this.startAgent(name);
    });
  }

  /** Until it has registered its node: what is written of the node before that may be written over. */
  async startAnew(name: string): Promise<void> {
    const node = this.world.node(name);
    rmSync(node.path(nodeNameFile), { force: true }); // the last thing that a start-up writes
    this.startAgent(name);
    await this.#untilRegistered(node);
  }

  async stopAgent(name: string): Promise<void> {
    const agent = this.#agents.get(name);
    this.#agents.delete(name);
    if (agent !== undefined) await ended(agent, "SIGTERM");
  }

  /** Ours, or whichever these words start: both read the same variables. */
  runTypha(words: readonly string[] = [...launcher().words, "typha"]): void {
    const server = filesOf("server", this.#certificates);
    const [program = "", ...args] = words;
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
      TYPHA_NODEREPORTPORT: String(reportPort),
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
      FELIX_IPV6SUPPORT: String(this.isDualStack),
      ...(this.isDualStack ? { IP6: "autodetect" } : {}),
      FELIX_HEALTHENABLED: "true",
      FELIX_REPORTENABLED: "true",
      FELIX_REPORTPORT: String(reportPort),
    };
  }

  status() {
    const { mode, folder, datastore } = this.options;
    return {
      mode,
      folder,
      datastore: datastore.type,
      typha: isRunning(this.#typha) ? "running" : "ended",
      nodes: this.world.nodes.map(({ name, address, address6, place }) => ({
        name,
        address,
        ...(address6 === undefined ? {} : { address6 }),
        pid: place.pid,
        agent: isRunning(this.#agents.get(name)) ? "running" : "not running",
      })),
      pods: this.pods.all.map(({ name, node, address, address6, place }) => ({
        name,
        node,
        address,
        ...(address6 === undefined ? {} : { address6 }),
        pid: place.pid,
      })),
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
    const { mode, datastore } = this.options;
    if (datastore.type !== "directory") {
      const names = this.world.nodes.map(({ name }) => name);
      await refuseOthers(this.datastore, names);
      await removeLeftovers(this.datastore, names); // of a lab that crashed
    }
    if (this.datastore.flavour === "kubernetes") {
      await this.#createOnce("Namespace", namespaceObject("default"));
      for (const node of this.world.nodes) await this.#createOnce("Node", nodeObject(node));
    } else await this.resources.apply("Profile", openProfile);
    const second: readonly string[] = [pools[1].name, pools6[1].name];
    for (const pool of this.pools)
      await this.resources.apply("IPPool", poolObject(pool, mode, second.includes(pool.name)));
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
      ipam: {
        type: "calico-ipam",
        ...(this.isDualStack ? { assign_ipv4: "true", assign_ipv6: "true" } : {}),
      },
      ...(this.datastore.flavour === "kubernetes" ? { policy: { type: "k8s" } } : {}),
    });
  }

  async #untilRegistered(node: LabNode): Promise<void> {
    const { name } = node;
    const file = node.path(nodeNameFile);
    const endMs = performance.now() + startLimitMs;
    while (!existsSync(file)) {
      const agent = this.#agents.get(name);
      const hasEnded = this.options.agent === undefined && !isRunning(agent); // another one is started again
      if (hasEnded || performance.now() > endMs) throw notStarted(name, this.options.folder);
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
