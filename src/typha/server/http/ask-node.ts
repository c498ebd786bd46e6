// One question to the agent of a node: what does it say of itself? Over mutual TLS: we show the certificate that it knows us by, and it must have the
// name that it has as our client. The address is from the datastore, so nothing is sent but the question, and little is taken.
import type { IncomingMessage } from "node:http";
import { type Clock, connectionWords } from "../../../base/lib/index.ts";
import { tlsClientOptions } from "../../../base/security/index.ts";
import { mostReportBytes } from "../../../calico/node-report/index.ts";
import type { NodeReports, Target } from "../../dashboard/index.ts";
import type { TyphaParts } from "../typha-parts.ts";

const patienceMs = 4_000;

export function nodeReportsOf({ settings, tls, options }: TyphaParts): NodeReports {
  if (options.askNode !== undefined) return { is: "on", ask: options.askNode };
  const port = settings.nodeReportPort;
  if (port === 0) return { is: "off", why: "TYPHA_NODEREPORTPORT is not set" };
  if (tls === undefined) return { is: "off", why: "TLS is off here, and nodes report over mutual TLS only" };
  return {
    is: "on",
    ask(target, path) {
      const { material, policy, requirement } = tls.setup();
      const secure = tlsClientOptions(material, policy, requirement);
      return askNode({ ...target, port, path }, secure, options.clock);
    },
  };
}

type Question = Target & { readonly port: number; readonly path: string };

/** Rejects with an Error that says in plain words why there is no answer. */
async function askNode(
  { address, port, path }: Question,
  secure: ReturnType<typeof tlsClientOptions>,
  clock: Clock,
): Promise<string> {
  // Loaded by who asks: a server without these pages never does.
  const { request } = await import("node:https");
  const done = new AbortController();
  try {
    return await new Promise((resolve, reject) => {
      const asked = request(
        // No name of a server is sent: an address is none, and the certificate's own name is what counts.
        { ...secure, host: address, port, path, agent: false, servername: "", signal: done.signal },
        (response) => {
          if (response.statusCode === 200) bodyOf(response).then(resolve, reject);
          else reject(new Error(`it answers ${response.statusCode}`));
        },
      );
      clock.sleep(patienceMs, done.signal).then(
        () => reject(new Error(`no answer within ${patienceMs / 1000} s`)),
        () => undefined, // answered before
      );
      asked.on("error", (error: NodeJS.ErrnoException) => reject(new Error(inWords(error))));
      asked.end();
    });
  } finally {
    done.abort();
  }
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > mostReportBytes) throw new Error(`its answer is larger than ${mostReportBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function inWords(error: NodeJS.ErrnoException): string {
  const code = error.code ?? "";
  if (code === "ECONNREFUSED")
    return "nothing listens there: its agent does not run, or does not report (FELIX_REPORTENABLED=true)";
  if (/INVALID_PURPOSE|UNSUPPORTED_CERTIFICATE_PURPOSE/.test(code))
    return "its certificate may not be used by servers: nodes show it to whoever asks them, so it must be allowed for both (cattail certs inspect FILE shows it)";
  if (/ALERT_/.test(code) || code === "ECONNRESET")
    return "it refused our certificate: its FELIX_TYPHACAFILE or FELIX_TYPHACN does not fit, or the certificate may not be used by clients";
  return connectionWords(error);
}
