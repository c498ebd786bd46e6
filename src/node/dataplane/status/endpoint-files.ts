// Says by a file that a pod's rules are in and its interface is up. The CNI plugin may wait for it before it lets the pod start.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { rangeText } from "../../../base/lib/index.ts";
import { errnoOf, isTemporaryName, makeFolders, removeFile, replaceFile } from "../../../base/linux/files.ts";
import type { Workload } from "../../../calico/policy/index.ts";

/** ORCHESTRATOR NAMESPACE%2FPOD ENDPOINT: each part escaped, so that none holds a slash or a space. */
export function statusFileName({ orchestrator, workload, endpoint }: Workload): string {
  return [orchestrator, workload, endpoint].map(encodeURIComponent).join(" ");
}

export function statusText({ interfaceName, addresses }: Workload): string {
  const nets = (family: 4 | 6) => addresses.flatMap((one) => (one.family === family ? [rangeText(one)] : []));
  const [ipv4Nets, ipv6Nets] = [nets(4), nets(6)];
  return JSON.stringify({
    ifaceName: interfaceName,
    ...(ipv4Nets.length === 0 ? {} : { ipv4Nets }),
    ...(ipv6Nets.length === 0 ? {} : { ipv6Nets }),
  });
}

export class EndpointFiles {
  readonly #folder: string;
  /** Undefined until the folder has been looked at. */
  #written: Map<string, string> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Leaves exactly these files. */
  async write(wanted: ReadonlyMap<string, string>): Promise<void> {
    this.#written ??= await this.#read();
    for (const name of this.#written.keys())
      if (!wanted.has(name)) {
        await removeFile(join(this.#folder, name));
        this.#written.delete(name);
      }
    for (const [name, text] of wanted) {
      if (this.#written.get(name) === text) continue;
      // After a power failure every pod starts anew: nothing here is worth a wait for the disk.
      await replaceFile(join(this.#folder, name), text, { mode: 0o644, durable: false });
      this.#written.set(name, text);
    }
  }

  /** Somebody may have been at the files: the next write looks at them again. */
  recheck(): void {
    this.#written = undefined;
  }

  async #read(): Promise<Map<string, string>> {
    await makeFolders(this.#folder);
    const found = new Map<string, string>();
    for (const entry of await readdir(this.#folder, { withFileTypes: true })) {
      if (isTemporaryName(entry.name) || !entry.isFile()) continue;
      found.set(entry.name, await this.#content(entry.name));
    }
    return found;
  }

  async #content(name: string): Promise<string> {
    try {
      return await readFile(join(this.#folder, name), "utf8");
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return "";
      throw error;
    }
  }
}
