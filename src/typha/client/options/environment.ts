// Following as the node's environment says: the variables that calico-node, confd and the others read, so that a
// program beside them needs no settings of its own.
//
//   FELIX_TYPHAADDR, FELIX_TYPHAK8SSERVICENAME, FELIX_TYPHAK8SNAMESPACE, FELIX_TYPHACAFILE, … FELIX_TYPHAREADTIMEOUT
import { CattailError } from "../../../base/lib/index.ts";
import type { ClientTls } from "../connection/dial.ts";
import { kubernetesService } from "../discovery/kubernetes-discovery.ts";
import type { FollowOptions } from "./follow-options.ts";

/** Variables by name; `process.env` is one. */
export type ClientEnvironment = { readonly [name: string]: string | undefined };

/** What the variables say of where and how to connect: a part of FollowOptions. */
export type EnvironmentOptions = Pick<FollowOptions, "tls" | "readTimeoutMs" | "writeTimeoutMs"> & {
  /** Absent: neither an address nor a service is set. */
  readonly servers?: FollowOptions["servers"];
};

/**
 * Options for follow() from the variables that calico-node has. Half a set of TLS files is an error (CLIENT_TLS_INCOMPLETE),
 * never plain TCP. Prefixes are tried in order; confd's are CONFD_, FELIX_ and CALICO_.
 */
export function optionsFromEnvironment(
  environment: ClientEnvironment,
  prefixes: readonly string[] = ["FELIX_", "CALICO_"],
): EnvironmentOptions {
  const read = (name: string): string | undefined =>
    prefixes.map((prefix) => environment[`${prefix}${name}`]).find((value) => value && value !== "none");
  const tls = tlsOf(read, prefixes[0] ?? "");
  const readTimeoutMs = milliseconds(read("TYPHAREADTIMEOUT"));
  const writeTimeoutMs = milliseconds(read("TYPHAWRITETIMEOUT"));
  const servers = serversOf(read, environment);
  return {
    ...(servers === undefined ? {} : { servers }),
    ...(tls === undefined ? {} : { tls }),
    ...(readTimeoutMs === undefined ? {} : { readTimeoutMs }),
    ...(writeTimeoutMs === undefined ? {} : { writeTimeoutMs }),
  };
}

type Read = (name: string) => string | undefined;

function serversOf(read: Read, environment: ClientEnvironment): FollowOptions["servers"] | undefined {
  const address = read("TYPHAADDR");
  if (address !== undefined) return address;
  const service = read("TYPHAK8SSERVICENAME");
  if (service === undefined) return undefined;
  const namespace = read("TYPHAK8SNAMESPACE");
  const localNode = environment.NODENAME;
  return kubernetesService({
    service,
    environment,
    ...(namespace === undefined ? {} : { namespace }),
    ...(localNode === undefined || localNode === "" ? {} : { localNode }),
  });
}

// All or nothing: half a set of TLS settings is a slip, and going on without TLS because of it would show the cluster's
// policies to the network.
function tlsOf(read: Read, prefix: string): ClientTls | undefined {
  const files = { keyFile: read("TYPHAKEYFILE"), certFile: read("TYPHACERTFILE"), caFile: read("TYPHACAFILE") };
  const commonName = read("TYPHACN");
  const uriSan = read("TYPHAURISAN");
  const { keyFile, certFile, caFile } = files;
  const hasName = commonName !== undefined || uriSan !== undefined;
  if (Object.values(files).every((file) => file === undefined) && !hasName) return undefined;
  if (keyFile !== undefined && certFile !== undefined && caFile !== undefined && hasName) {
    const server = { ...(commonName === undefined ? {} : { commonName }), ...(uriSan === undefined ? {} : { uriSan }) };
    return { keyFile, certFile, caFile, server };
  }
  const missing = [
    ...(keyFile === undefined ? ["TYPHAKEYFILE"] : []),
    ...(certFile === undefined ? ["TYPHACERTFILE"] : []),
    ...(caFile === undefined ? ["TYPHACAFILE"] : []),
    ...(hasName ? [] : [`TYPHACN or ${prefix}TYPHAURISAN`]),
  ];
  throw new CattailError("CLIENT_TLS_INCOMPLETE", {
    problem: `the TLS settings for the server are incomplete; missing: ${missing.map((name) => `${prefix}${name}`).join(", ")}`,
    next: "Set these too, or set none of them to connect without TLS",
  });
}

/** What cannot be read, or is not positive, is as if it were not set, as in the original. */
function milliseconds(seconds: string | undefined): number | undefined {
  const value = Number(seconds);
  return seconds !== undefined && Number.isFinite(value) && value > 0 ? value * 1000 : undefined;
}
