// The certificates of a cluster on their way from an operator's folder to the processes: `cattail certs secret`, applied to
// the API server, read back from there and mounted, the server's for the servers and the nodes' for the nodes.
import { join } from "node:path";
import type { Cluster } from "./cluster.ts";
import { applyObject, printObjects } from "./manifest-objects.ts";
import { MountedFolder } from "./mounted-folder.ts";
import type { TyphaEnvironment } from "./typha-settings.ts";

type Stored = { readonly data: { readonly [name: string]: string } };

const kubeSystem = "/api/v1/namespaces/kube-system";

export class MountedCertificates {
  readonly #cluster: Cluster;
  readonly #ca: MountedFolder;
  readonly #server: MountedFolder;
  readonly #nodes: MountedFolder;

  constructor(cluster: Cluster, folder: string) {
    this.#cluster = cluster;
    this.#ca = new MountedFolder(join(folder, "calico-typha-ca"), 0o644);
    this.#server = new MountedFolder(join(folder, "calico-typha-certs"), 0o440); // as the Deployment's defaultMode
    this.#nodes = new MountedFolder(join(folder, "calico-node-certs"), 0o400);
  }

  /** `cattail certs secret --dir DIR | kubectl apply -f -`, and what the kubelets then do. */
  async apply(dir: string): Promise<void> {
    const { objects } = await printObjects(["certs", "secret", "--dir", dir]);
    for (const one of objects) await applyObject(this.#cluster, one);
    this.#ca.put((await this.#read("configmaps/calico-typha-ca")).data);
    for (const [name, mount] of [
      ["calico-typha-certs", this.#server],
      ["calico-node-certs", this.#nodes],
    ] as const) {
      const { data } = await this.#read(`secrets/${name}`);
      mount.put(Object.fromEntries(Object.entries(data).map(([file, text]) => [file, fromBase64(text)])));
    }
  }

  /** The files that the Deployment names, where they are here. */
  get serverSettings(): TyphaEnvironment {
    return {
      TYPHA_CAFILE: this.#ca.path("typhaca.crt"),
      TYPHA_SERVERCERTFILE: this.#server.path("typha.crt"),
      TYPHA_SERVERKEYFILE: this.#server.path("typha.key"),
    };
  }

  /** Of the nodes' mounts, for the Go client and for the doctor. */
  get clientFlags(): string[] {
    return certificateFlags({
      ca: this.#ca.path("typhaca.crt"),
      cert: this.#nodes.path("calico-node.crt"),
      key: this.#nodes.path("calico-node.key"),
    });
  }

  async #read(what: string): Promise<Stored> {
    return (await this.#cluster.must("GET", `${kubeSystem}/${what}`)) as Stored; // a Kubernetes object
  }
}

export function certificateFlags({ ca, cert, key }: { ca: string; cert: string; key: string }): string[] {
  return ["--ca", ca, "--cert", cert, "--key", key];
}

function fromBase64(text: string): string {
  return Buffer.from(text, "base64").toString();
}
