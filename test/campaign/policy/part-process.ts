// The part that enforces policy, as a process that can be killed: told everything it shall enforce by lines of JSON on its standard input.
// With arguments (node part-process.ts NAMESPACE), it is that process.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { PartUnderTest } from "../../kit/policy/part-under-test.ts";

const [, , namespace] = process.argv;
if (process.argv[1] === fileURLToPath(import.meta.url) && namespace !== undefined) await beTheProcess(namespace);

async function beTheProcess(path: string): Promise<void> {
  const part = new PartUnderTest({
    node: "node-a",
    namespace: path,
    settings: { DefaultEndpointToHostAction: "Accept" },
  });
  let isStarted = false;
  for await (const line of createInterface({ input: process.stdin })) {
    const { number, values }: { number: number; values: { [path: string]: string } } = JSON.parse(line);
    part.sayAll(new Map(Object.entries(values)));
    if (!isStarted) part.start();
    isStarted = true;
    await part.settled();
    process.stdout.write(`${number}\n`);
  }
  await part.stop();
  process.exit(0);
}

export class PartProcess {
  readonly #namespace: string;
  #child: ChildProcess | undefined;
  #values: ReadonlyMap<string, string> = new Map();
  #number = 0;
  readonly #done = new Map<number, () => void>();
  starts = 0;

  constructor(namespacePath: string) {
    this.#namespace = namespacePath;
  }

  /** Resolves when it is in force; with false where the process was ended before. */
  async say(values: ReadonlyMap<string, string>): Promise<void> {
    this.#values = values;
    if (this.#child !== undefined) await this.#tell();
  }

  async start(): Promise<void> {
    this.starts += 1;
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), this.#namespace], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child = child;
    child.stdin.on("error", () => undefined); // killed while it was told something
    createInterface({ input: child.stdout }).on("line", (line) => {
      this.#done.get(Number(line))?.();
      this.#done.delete(Number(line));
    });
    await this.#tell();
  }

  /** At once, wherever it is. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
    for (const done of this.#done.values()) done();
    this.#done.clear();
  }

  async #tell(): Promise<void> {
    this.#number += 1;
    const number = this.#number;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#done.set(number, resolve);
    this.#child?.stdin?.write(`${JSON.stringify({ number, values: Object.fromEntries(this.#values) })}\n`);
    await promise;
  }
}
