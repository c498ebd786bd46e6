// Where servers are: one address, several, or whatever a discovery answers when asked.
import { isIP } from "node:net";
import { CattailError, isRecord } from "../../../base/lib/index.ts";
import {
  invalid,
  isList,
  isName,
  isPort,
  optional,
  type Rules,
  text,
  wrongIn,
  wrongValue,
} from "../options/check-options.ts";

/** Where a server listens and, where that is known, on which node. */
export type ServerAddress = { readonly host: string; readonly port: number; readonly node?: string };

/** A function that answers where servers are; asked before every connection. The first that was not tried yet is next. */
export type Discovery = (signal: AbortSignal) => Promise<readonly ServerAddress[]>;

/** host:port, several of them, or a discovery. */
export type Servers = string | readonly string[] | Discovery;

const defaultPort = 5473;

export function discoveryOf(servers: Servers): Discovery {
  if (typeof servers === "function") {
    return async (signal) => {
      const found = await servers(signal);
      checkAddresses(found);
      return found;
    };
  }
  const list = (typeof servers === "string" ? [servers] : servers).map(parseServerAddress);
  return async () => list;
}

/** Reads host, host:port, IPv6 or [IPv6]:port; the port is 5473 unless given. For a discovery of your own. */
export function parseServerAddress(given: string): ServerAddress {
  if (isIP(given) === 6) return { host: given, port: defaultPort };
  const match = /^(?:\[([^\]]+)\]|([^:/\s]+))(?::(\d{1,5}))?$/.exec(given);
  const port = match?.[3] === undefined ? defaultPort : Number(match[3]);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined || !isPort(port) || (match?.[1] !== undefined && isIP(host) !== 6)) {
    throw new CattailError("CLIENT_ADDRESS", {
      problem: `${JSON.stringify(given)} is not a server address`,
      next: "Give host:port, e.g. 10.0.0.7:5473, typha.example:5473 or [fd00::7]:5473",
    });
  }
  return { host, port };
}

export function addressText({ host, port }: ServerAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

const addressRules: Rules<ServerAddress> = {
  host: { isRight: isName, wants: "a name or an IP address" },
  port: { isRight: isPort, wants: "a whole number from 1 to 65535" },
  node: optional(text),
};

/** What a discovery has answered: throws one error that lists everything wrong. */
function checkAddresses(addresses: readonly ServerAddress[]): void {
  const given: unknown = addresses;
  if (!isList(given, isRecord)) {
    throw invalid([wrongValue("what the discovery answers", given, "a list of { host, port }")]);
  }
  const wrong = given.flatMap((address, index) => wrongIn(`the discovery's [${index}].`, address, addressRules));
  if (wrong.length > 0) throw invalid(wrong);
}
