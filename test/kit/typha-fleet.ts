// The servers of one cluster, each a `cattail typha` process (or another Typha) with the Deployment's environment and an
// address of its own on the loopback; and what kubelet and controllers would do around them: probe them, and list them as
// endpoints of the Service.
import { Cattail, probe } from "./cattail-process.ts";
import type { Cluster } from "./cluster.ts";
import { freePort } from "./free-port.ts";
import type { TyphaEnvironment } from "./typha-settings.ts";

export type FleetServer = {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly process: Cattail;
  readonly urls: { readonly [window in "health" | "metrics" | "debug"]: string };
};

/** Of which Deployment a server is: its name, its environment, and its program where that is not ours. */
export type FleetMember = {
  readonly deployment?: string;
  readonly environment?: TyphaEnvironment;
  readonly program?: readonly string[];
};

/** Of /clients, what the walk looks at. */
type ConnectedClient = { readonly node: string };

const slices = "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices";

export class Fleet implements AsyncDisposable {
  readonly #cluster: Cluster;
  readonly #environment: TyphaEnvironment;
  /** Those that clients find: started and ready, and not asked to leave. */
  readonly listed: FleetServer[] = [];
  readonly #started: FleetServer[] = [];
  #count = 0;

  constructor(cluster: Cluster, environment: TyphaEnvironment) {
    this.#cluster = cluster;
    this.#environment = environment;
  }

  /** Starts a server on an address of its own, waits until it is ready, and lists it. */
  async add({ deployment = "calico-typha", environment, program }: FleetMember = {}): Promise<FleetServer> {
    this.#count += 1;
    const name = `${deployment}-${this.#count}`;
    const host = `127.0.0.${1 + this.#count}`;
    const ports = new Set<number>();
    while (ports.size < 4) ports.add(await freePort(host));
    const [port = 0, health, metrics, debug] = ports;
    const server: FleetServer = {
      name,
      host,
      port,
      urls: {
        health: `http://${host}:${health}`,
        metrics: `http://${host}:${metrics}`,
        debug: `http://${host}:${debug}`,
      },
      process: new Cattail(program === undefined ? ["typha"] : [], {
        ...(program === undefined ? {} : { program }),
        env: {
          ...this.#environment,
          ...environment,
          TYPHA_SERVERHOST: host,
          TYPHA_SERVERPORT: `${port}`,
          TYPHA_HEALTHHOST: host,
          TYPHA_HEALTHPORT: `${health}`,
          TYPHA_PROMETHEUSMETRICSENABLED: "true",
          TYPHA_PROMETHEUSMETRICSHOST: host,
          TYPHA_PROMETHEUSMETRICSPORT: `${metrics}`,
          TYPHA_DEBUGHOST: host,
          TYPHA_DEBUGPORT: `${debug}`,
        },
      }),
    };
    this.#started.push(server);
    await server.process.until("ready", async () => {
      return (await this.readiness(server))?.status === 200 ? true : undefined;
    });
    await this.#list(server);
    return server;
  }

  /** As a node that dies. */
  async lose(server: FleetServer): Promise<void> {
    server.process.process.kill("SIGKILL");
    await server.process.ended;
    await this.#unlist(server);
  }

  /** As the kubelet ends a pod: it is taken off the list, and asked to go. Answers its exit code and how long it took. */
  async drain(server: FleetServer): Promise<{ code: number | null; tookMs: number }> {
    await this.#unlist(server);
    const startedMs = performance.now();
    server.process.process.kill("SIGTERM");
    const code = await server.process.ended;
    return { code, tookMs: performance.now() - startedMs };
  }

  readiness(server: FleetServer) {
    return probe(`${server.urls.health}/readiness`);
  }

  /** Those that have said who they are: a probe comes, is answered and goes. */
  async clients(server: FleetServer): Promise<readonly ConnectedClient[]> {
    const answer = await probe(`${server.urls.debug}/clients`);
    const all = JSON.parse(answer?.body ?? "[]") as ConnectedClient[]; // as docs/reference/debug-endpoints.md says
    return all.filter(({ node }) => node !== "");
  }

  /** One sample of /metrics; a name with its labels, as it is printed. Absent is 0: a counter that never counted. */
  async metric(server: FleetServer, sample: string): Promise<number> {
    const text = (await probe(`${server.urls.metrics}/metrics`))?.body ?? "";
    const line = text.split("\n").find((one) => one.startsWith(`${sample} `));
    return line === undefined ? 0 : Number(line.slice(sample.length + 1));
  }

  /** The end of every server's log, for a walk that fails. */
  get lastWords(): string {
    return this.#started.map(({ name, process }) => `--- ${name}\n${process.output.slice(-4000)}`).join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#started.map(({ process }) => process[Symbol.asyncDispose]()));
  }

  async #list(server: FleetServer): Promise<void> {
    const { name, host, port } = server;
    await this.#cluster.must("POST", slices, {
      metadata: { name, labels: { "kubernetes.io/service-name": "calico-typha" } },
      // The API server takes no loopback addresses; by this type they pass as names, and who dials them sees no difference.
      addressType: "FQDN",
      endpoints: [{ addresses: [host], conditions: { ready: true } }],
      ports: [{ name: "calico-typha", port, protocol: "TCP" }],
    });
    this.listed.push(server);
  }

  async #unlist(server: FleetServer): Promise<void> {
    this.listed.splice(this.listed.indexOf(server), 1);
    await this.#cluster.must("DELETE", `${slices}/${server.name}`);
  }
}
