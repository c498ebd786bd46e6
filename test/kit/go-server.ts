// The Go server of test/peers as a child process: told what to serve on its standard input, gone when that closes.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { goPeer } from "./go.ts";

const peer = await goPeer("test/peers/typha/server");
/** For `{ skip }` of tests that need it. */
export const withoutGoServer: string | false = peer.missing ?? false;

export type GoServer = AsyncDisposable & {
  readonly port: number;
  readonly address: string;
  say(line: object): void;
};

export async function startGoServer(flags: readonly string[] = []): Promise<GoServer> {
  if (peer.path === undefined) throw new Error(peer.missing);
  const child: ChildProcess = spawn(peer.path, ["--updates-stdin", ...flags], { stdio: ["pipe", "pipe", "ignore"] });
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error("the server has no pipes");
  const exited = once(child, "exit"); // from the start: it may be gone before it is asked to go
  const [line] = await once(createInterface({ input: stdout }), "line");
  const { port } = JSON.parse(String(line)) as { port: number }; // written by test/peers/typha/server/main.go
  return {
    port,
    address: `127.0.0.1:${port}`,
    say: (update) => stdin.write(`${JSON.stringify(update)}\n`),
    [Symbol.asyncDispose]: async () => {
      stdin.end();
      await exited;
    },
  };
}
