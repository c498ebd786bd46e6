// Whether waiting can help. A server that is away comes back; certificates that do not fit stay as they are, until somebody
// mends them. Some failures say so for certain. Others only look like it: a server that hangs up before it has said a word
// may have TLS where we have none, or refuse our certificate without saying so; or it was just being stopped. So those count
// when they come three times in a row.
import { CattailError, connectionFault } from "../../../base/lib/index.ts";
import { addressText, type ServerAddress } from "../discovery/server-address.ts";

const enough = 3;

export class BadSetups {
  readonly #signs = new Map<string, number>();

  /** An attempt at this server has failed. */
  note(server: ServerAddress, error: unknown, wasGreeted: boolean): void {
    const address = addressText(server);
    const sign = wasGreeted ? "none" : signOf(error);
    const before = this.#signs.get(address) ?? 0;
    this.#signs.set(address, sign === "certain" ? enough : sign === "likely" ? before + 1 : 0);
  }

  /** Whether none of these servers can ever be followed as things are. */
  areAll(servers: readonly ServerAddress[]): boolean {
    return servers.length > 0 && servers.every((server) => (this.#signs.get(addressText(server)) ?? 0) >= enough);
  }
}

/** Files of ours that cannot be used, too: whoever loads them names them with TLS_. */
const certain = /^(CLIENT_SERVER_CERTIFICATE|CLIENT_CERTIFICATE_REFUSED|TLS_[A-Z_]+)$/;

function signOf(error: unknown): "certain" | "likely" | "none" {
  if (!(error instanceof CattailError)) return "none";
  if (certain.test(error.code)) return "certain";
  if (error.code === "CLIENT_TLS_MISMATCH") return connectionFault(error.cause) === "protocol" ? "certain" : "likely";
  return error.code === "CLIENT_CONNECTION_ENDED" ? "likely" : "none";
}
