// The health server of an agent, or of any component that has one: answers from 200 to 399 are good.
// Not imported: as an ES module node:http loads a second HTTP client, which takes longer than the whole probe.
const { get } = process.getBuiltinModule("node:http");

export type HealthServer = { readonly host: string; readonly port: number };

/** Throws Error with the original's words. */
export async function askHealth(
  { host, port }: HealthServer,
  probe: "liveness" | "readiness",
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const name = host.includes(":") ? `[${host}]` : host;
  const url = `http://${name}:${port}/${probe}`;
  const asking = get(url, { signal, agent: false }, (answer) => {
    resolve(answer.statusCode ?? 0);
    answer.destroy();
  });
  asking.on("error", (error) => reject(new Error(`Get "${url}": ${sentence(error, port)}`, { cause: error })));
  const status = await promise;
  if (status < 200 || status >= 400) throw new Error(`${probe} probe reporting ${status}`);
}

function sentence(error: NodeJS.ErrnoException & { errors?: readonly NodeJS.ErrnoException[] }, port: number): string {
  const [first = error] = error.errors ?? []; // of each address of a name
  return first.code === "ECONNREFUSED" ? `connect: connection refused (nobody listens on port ${port})` : first.message;
}
