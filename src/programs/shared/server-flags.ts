// How watch and doctor are told which servers to look at and with which certificates: by flags, or by the variables the
// node itself has.
import type { Command } from "commander";
import { CattailError } from "../../base/lib/index.ts";
import { filesOf } from "../../typha/certificates/index.ts";
import { type ClientEnvironment, type ClientTls, optionsFromEnvironment } from "../../typha/client/index.ts";

export type TlsFlags = {
  certs?: string;
  ca?: string;
  cert?: string;
  key?: string;
  serverCn?: string;
  serverUri?: string;
  plaintext: boolean;
};

export function tlsOptions(command: Command): Command {
  return command
    .option("--certs <folder>", "folder made by cattail certs: client certificate, key and CA")
    .option("--ca <file>", "CA that signed the server's certificate (or FELIX_TYPHACAFILE)")
    .option("--cert <file>", "client certificate (or FELIX_TYPHACERTFILE)")
    .option("--key <file>", "private key of the client (or FELIX_TYPHAKEYFILE)")
    .option(
      "--server-cn <name>",
      "common name the server must have (or FELIX_TYPHACN; default: calico-typha unless --server-uri is given)",
    )
    .option("--server-uri <uri>", "URI SAN the server must have (or FELIX_TYPHAURISAN)")
    .option("--plaintext", "connect without TLS", false);
}

/** Undefined: without TLS, because it was asked for. */
export function tlsOf(flags: TlsFlags, environment: ClientEnvironment): ClientTls | undefined {
  if (flags.plaintext) {
    const given = (["certs", "ca", "cert", "key", "serverCn", "serverUri"] as const).find(
      (name) => flags[name] !== undefined,
    );
    if (given === undefined) return undefined;
    throw new CattailError("CLIENT_TLS_CONTRADICTION", {
      problem: `--plaintext asks for a connection without TLS, and --${given.replace(/[A-Z]/, "-$&").toLowerCase()} is for one with TLS`,
      next: "Leave out one of the two",
    });
  }
  const { ca, cert, key } = fromFolder(flags);
  if (ca === undefined && cert === undefined && key === undefined) {
    const { tls } = optionsFromEnvironment(environment);
    if (tls !== undefined) return { ...tls, server: requirementOf(flags) ?? tls.server };
  }
  if (ca !== undefined && cert !== undefined && key !== undefined) {
    return { caFile: ca, certFile: cert, keyFile: key, server: requirementOf(flags) ?? { commonName: "calico-typha" } };
  }
  const missing = Object.entries({ "--ca": ca, "--cert": cert, "--key": key }).flatMap(([name, value]) =>
    value === undefined ? [name] : [],
  );
  throw new CattailError("CLIENT_TLS_INCOMPLETE", {
    problem:
      missing.length === 3
        ? "mutual TLS needs a CA, a certificate and a key, and none of them is given"
        : `mutual TLS needs --ca, --cert and --key, but ${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} missing`,
    next: "Give --certs FOLDER (cattail certs all makes one) or --ca, --cert and --key; or --plaintext for a server without TLS",
  });
}

/** What is named by itself goes before what lies in the folder. */
function fromFolder(flags: TlsFlags): Pick<TlsFlags, "ca" | "cert" | "key"> {
  const { certs, ca, cert, key } = flags;
  if (certs === undefined) return flags;
  const { certFile, keyFile } = filesOf("client", certs);
  return { ca: ca ?? filesOf("authority", certs).certFile, cert: cert ?? certFile, key: key ?? keyFile };
}

function requirementOf({ serverCn, serverUri }: TlsFlags): ClientTls["server"] | undefined {
  if (serverCn === undefined && serverUri === undefined) return undefined;
  return {
    ...(serverCn === undefined ? {} : { commonName: serverCn }),
    ...(serverUri === undefined ? {} : { uriSan: serverUri }),
  };
}
