// The ports the server would listen on: free, allowed, on addresses of this machine, and no two the same.
import { createServer } from "node:net";
import type { Settings } from "../../../typha/settings/index.ts";
import { type Finding, passed, problem } from "../finding.ts";

export type WantedPort = { readonly what: string; readonly host: string; readonly port: number };

export function wantedPorts(settings: Settings): WantedPort[] {
  const all: (WantedPort & { isOn: boolean })[] = [
    { what: "clients", host: settings.serverHost, port: settings.serverPort, isOn: true },
    { what: "probes", host: settings.healthHost, port: settings.healthPort, isOn: settings.healthEnabled },
    {
      what: "metrics",
      host: settings.prometheusMetricsHost,
      port: settings.prometheusMetricsPort,
      isOn: settings.prometheusMetricsEnabled,
    },
    { what: "debug pages", host: settings.debugHost, port: settings.debugPort, isOn: settings.debugPort > 0 },
    { what: "dashboard", host: settings.dashboardHost, port: settings.dashboardPort, isOn: settings.dashboardEnabled },
  ];
  return all.flatMap(({ isOn, ...wanted }) => (isOn ? [wanted] : []));
}

export async function checkPorts(wanted: readonly WantedPort[]): Promise<Finding[]> {
  const clashes = wanted.flatMap((one, index) =>
    wanted.slice(index + 1).flatMap((other) => (doClash(one, other) ? [clash(one, other)] : [])),
  );
  return [...clashes, ...(await Promise.all(wanted.map(checkPort)))];
}

async function checkPort({ what, host, port }: WantedPort): Promise<Finding> {
  const where = `port ${port}${host === "" ? "" : ` on ${host}`}, for ${what},`;
  const code = await tryToListen(host, port);
  switch (code) {
    case undefined:
      return passed(`${where} is free`);
    case "EADDRINUSE":
      return problem("PORT_IN_USE", `${where} is taken`, {
        fix: `ss -ltnp "sport = :${port}" names who has it; if it is the server itself, check it with --server`,
      });
    case "EACCES":
      return problem("PORT_FORBIDDEN", `${where} may not be opened by this user`);
    default:
      return problem("PORT_ADDRESS", `${where} cannot be listened on (${code})`);
  }
}

function tryToListen(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const probe = createServer();
  probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  probe.listen({ port, exclusive: true, ...(host === "" ? {} : { host }) }, () =>
    probe.close(() => resolve(undefined)),
  );
  return promise;
}

function doClash(one: WantedPort, other: WantedPort): boolean {
  return one.port === other.port && one.port !== 0 && (one.host === other.host || one.host === "" || other.host === "");
}

function clash(one: WantedPort, other: WantedPort): Finding {
  return problem("PORT_CLASH", `${one.what} and ${other.what} both want port ${one.port}`);
}
