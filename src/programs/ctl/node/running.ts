// What runs on this host, as far as node status asks: by the sockets and the health port that the parts of Calico open, and by
// processes of their names, which is all that the original looks at. In a container a program may have a path before its name.
import { readdir, readFile } from "node:fs/promises";
import { connect } from "node:net";

/** Of processes that end while we look, nothing is said. */
export async function runningPrograms(proc = "/proc"): Promise<ReadonlySet<string>> {
  const names = (await readdir(proc).catch(() => [])).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(names.map((name) => readFile(`${proc}/${name}/cmdline`, "utf8").catch(() => "")));
  return new Set(lines.flatMap(programOf));
}

function programOf(commandLine: string): string[] {
  const [first = ""] = commandLine.split("\u0000");
  const name = first.slice(first.lastIndexOf("/") + 1);
  return name === "" ? [] : [name];
}

/** The node's agent, whoever made it and whatever its process is called. */
export async function isNodeRunning(
  programs: ReadonlySet<string>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  if (programs.has("calico-felix") || programs.has("calico-node")) return true;
  const port = Number(env.FELIX_HEALTHPORT ?? 9099);
  const isPort = Number.isInteger(port) && port > 0 && port < 65536;
  return isPort && (await answersHttp({ host: env.FELIX_HEALTHHOST || "localhost", port }));
}

/** Whether anybody answers there as a health port does, well or not well. */
function answersHttp(to: { host: string; port: number }): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(to);
  let said = "";
  const decide = (is: boolean) => {
    resolve(is);
    socket.destroy();
  };
  socket.setEncoding("latin1");
  socket.setTimeout(1000, () => decide(false));
  socket.on("connect", () => socket.write(`GET /liveness HTTP/1.1\r\nHost: ${to.host}\r\nConnection: close\r\n\r\n`));
  socket.on("data", (chunk: string) => {
    said += chunk;
    if (said.length >= 12) decide(/^HTTP\/1\.[01] \d/.test(said));
  });
  socket.on("error", () => decide(false));
  socket.on("close", () => decide(false));
  return promise;
}
