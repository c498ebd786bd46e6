// The machine that a case is played on: a network namespace with exactly its interfaces, made in their order, and folders that stand for /var/lib/calico,
// /var/run/calico and /var/log/calico while a program runs there. The API server is reached inside on its own address and port, through a door
// that can be shut.
import { type ChildProcess, spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import {
  deleteNamespace,
  inNamespace,
  openNamespace,
  openNetlink,
  writeSysctl,
} from "../../../src/base/linux/kernel.ts";
import { eventually } from "../eventually.ts";
import { freshNamespace } from "../namespace.ts";
import { type CaseInterface, type StartupCase, scrubbed } from "./case.ts";

const folders = { lib: "/var/lib/calico", run: "/var/run/calico", log: "/var/log/calico" } as const;
const agentPort = 9099;

export type Ran = { readonly code: number | string | null; readonly output: string };

export class StartupStage implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "cattail-startup-case-"));
  readonly namespace = freshNamespace();
  readonly #far = freshNamespace();
  readonly #stack = new DisposableStack();
  readonly #sockets = new Set<Socket>();
  #isOpen = true;
  #refused = 0;

  constructor() {
    for (const name of Object.keys(folders)) mkdirSync(join(this.folder, name));
    this.#stack.defer(() => {
      for (const { name } of [this.namespace, this.#far]) deleteNamespace(name);
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  /** Everything around the program; the API server listens on the port of this machine's loopback. */
  async prepare({ interfaces, linkLocal, files = {}, health = {} }: StartupCase, apiPort?: number): Promise<void> {
    const { path } = this.namespace;
    for (const where of ["default", "all"]) writeSysctl(`net.ipv6.conf.${where}.accept_dad`, 0, { namespace: path });
    if (linkLocal !== true) writeSysctl("net.ipv6.conf.default.addr_gen_mode", 1, { namespace: path });
    await this.#up("lo");
    for (const [at, each] of interfaces.entries()) await this.#make(each, at);
    if (linkLocal === true) for (const { name } of interfaces) await this.#whenLinkLocal(name);
    for (const [name, content] of Object.entries(files)) writeFileSync(join(this.folder, name), content);
    if (apiPort !== undefined) this.#door(apiPort);
    for (const [name, bird] of Object.entries(health.bird ?? {}))
      await this.#bird(join(this.folder, "run", name), bird);
    if (health.felix !== undefined) this.#agent(health.felix);
    if (health.nameFileAge !== undefined) {
      const file = join(this.folder, "lib", "nodename");
      writeFileSync(file, "n1");
      const at = Date.now() / 1000 - health.nameFileAge;
      utimesSync(file, at, at);
    }
  }

  shut(seconds: number): void {
    this.#isOpen = false;
    setTimeout(() => {
      this.#isOpen = true;
    }, seconds * 1000).unref();
  }

  /** The first so many connections are hung up on. */
  refuse(connections: number): void {
    this.#refused = connections;
  }

  /** In a mount namespace and with a host name of its own. */
  async run(
    words: readonly string[],
    env: { readonly [name: string]: string },
    limitMs: number,
    hostname = "somehost",
  ): Promise<Ran> {
    const lines = Object.entries(folders).map(
      ([name, target]) => `mkdir -p ${target}; mount --bind ${join(this.folder, name)} ${target}`,
    );
    const script = ["set -e", "mount --make-rprivate /", ...lines, `hostname ${hostname}`, 'exec "$@"'].join("\n");
    const program = [process.execPath, resolve("src/programs/main/main.ts"), "node", ...words];
    const { PATH = "", NODE_COMPILE_CACHE } = process.env;
    const cache = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
    const child = inNamespace(this.namespace.path, () =>
      spawn("unshare", ["-m", "-u", "/bin/sh", "-c", script, "sh", ...program], {
        stdio: ["ignore", "pipe", "pipe"],
        env: { PATH, HOME: this.folder, ...cache, ...env },
        detached: true,
      }),
    );
    return await outcomeOf(child, limitMs);
  }

  /** What the folders hold. */
  files(): { readonly [path: string]: string } {
    const found = Object.keys(folders).flatMap((folder) =>
      readdirSync(join(this.folder, folder)).flatMap((name) => {
        const path = join(this.folder, folder, name);
        return statSync(path).isFile() ? [[`${folder}/${name}`, scrubbed(readFileSync(path, "utf8"))] as const] : [];
      }),
    );
    return Object.fromEntries(found);
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#stack.dispose();
  }

  async #up(name: string): Promise<number> {
    await using netlink = openNetlink({ namespace: this.namespace.path });
    const link = await netlink.link(name);
    if (link === undefined) throw new Error(`no link ${name}`);
    await netlink.change({ do: "edit", link: { link: link.index, up: true } });
    return link.index;
  }

  /** The kernel gives the address when it gets round to it. */
  async #whenLinkLocal(name: string): Promise<void> {
    await using netlink = openNetlink({ namespace: this.namespace.path });
    const index = (await netlink.link(name))?.index;
    await eventually(
      async () => (await netlink.addresses()).some((one) => one.index === index && one.address.startsWith("fe80:")),
      `${name} has no link-local address`,
    );
  }

  async #make(
    { name, addrs = [], type = "veth", up = true, mac, routes = [] }: CaseInterface,
    at: number,
  ): Promise<void> {
    const far = `f${at}`;
    if (type === "veth") {
      using inside = openNamespace(this.namespace.path);
      await using outer = openNetlink({ namespace: this.#far.path });
      const peer = { name, namespaceFd: inside.fd };
      await outer.change({ do: "create", link: { kind: "veth", name: far, up: true, peer } });
    }
    await using netlink = openNetlink({ namespace: this.namespace.path });
    if (type === "bridge") await netlink.change({ do: "create", link: { kind: "bridge", name } });
    if (type === "vxlan") {
      await netlink.change({ do: "create", link: { kind: "vxlan", name, vxlan: { id: 900 + at, port: 4789 } } });
    }
    const index = (await netlink.link(name))?.index ?? 0;
    if (mac !== undefined) await netlink.change({ do: "edit", link: { link: index, mac } });
    for (const text of addrs)
      await netlink.change({ do: "create", address: { index, ...addressOf(text), flags: ["nodad"] } });
    if (up) await netlink.change({ do: "edit", link: { link: index, up: true } });
    for (const route of routes) {
      const destination = route === "default" ? "0.0.0.0/0" : route;
      await netlink.change({ do: "create", route: { destination, index, scope: "link" } });
    }
  }

  #door(port: number): void {
    const server = createServer((socket) => {
      if (!this.#isOpen || this.#refused > 0) {
        this.#refused = Math.max(0, this.#refused - 1);
        return void socket.destroy();
      }
      const outer = connect({ host: "127.0.0.1", port });
      this.#sockets.add(socket);
      socket.on("error", () => outer.destroy());
      outer.on("error", () => socket.destroy());
      socket.on("close", () => {
        this.#sockets.delete(socket);
        outer.destroy();
      });
      outer.on("close", () => socket.destroy());
      socket.pipe(outer).pipe(socket);
    });
    // Without a host Node binds at once, and so inside; with one it would look the name up first.
    inNamespace(this.namespace.path, () => server.listen(port));
    this.#stack.defer(() => server.close());
  }

  /** A control socket that answers from a script. */
  async #bird(path: string, of: { greeting: string; replies: { readonly [command: string]: string } }): Promise<void> {
    const server: Server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => socket.destroy()); // whoever asked has left
      socket.write(`${of.greeting}\n`);
      createInterface({ input: socket }).on("line", (line) => {
        const text = of.replies[line.trim().replaceAll('"', "")] ?? "9001 syntax error\n";
        if (text !== "silence") socket.write(text);
      });
    });
    await new Promise<void>((done) => server.listen(path, done));
    this.#stack.defer(() => server.close());
  }

  #agent(answers: { readonly [path: string]: number }): void {
    const server = createHttpServer((request, response) => {
      response.statusCode = answers[(request.url ?? "").replaceAll("/", "")] ?? 404;
      response.end();
    });
    inNamespace(this.namespace.path, () => server.listen(agentPort));
    this.#stack.defer(() => {
      server.close();
      server.closeAllConnections();
    });
  }
}

async function outcomeOf(child: ChildProcess, limitMs: number): Promise<Ran> {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const { promise, resolve: ended, reject } = Promise.withResolvers<number | null>();
  child.on("error", reject);
  child.on("close", ended);
  const late = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }, limitMs);
  const code = await promise;
  clearTimeout(late);
  return { code: code ?? `still running after ${limitMs / 1000} s`, output };
}

/** With a peer the length is the peer's, and the kernel has it beside the own address. */
function addressOf(text: string): { address: string; peer?: string } {
  const [, own, peer, length] = /^(\S+) peer ([^/]+)(\/\d+)$/.exec(text) ?? [];
  return peer === undefined ? { address: text } : { address: `${own}${length}`, peer };
}
