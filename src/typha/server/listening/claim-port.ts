// Worker threads share their port, and the kernel lets any process of the same user share it with them: two servers
// started by mistake would each get half of the clients, and nobody would be told. So the port is bound once without
// sharing before the threads bind it; that fails while anyone has it.
import { createServer } from "node:net";
import { CattailError } from "../../../base/lib/index.ts";

/** An empty host is all addresses. */
export type ListenAddress = { readonly host: string; readonly port: number };

export async function claimPort({ host, port }: ListenAddress): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", (error) => reject(cannotListen({ host, port }, error)));
    probe.listen({ port, ...(host === "" ? {} : { host }) }, () => probe.close(() => resolve()));
  });
}

export function cannotListen({ host, port }: ListenAddress, error: unknown): CattailError {
  return new CattailError("SERVER_LISTEN", {
    problem: `cannot listen on ${host === "" ? "all addresses" : host}, port ${port}: ${(error as Error).message}`,
    next: "Free the port, or choose another address with TYPHA_SERVERHOST and TYPHA_SERVERPORT",
    cause: error,
  });
}
