// `cattail doctor`: what is wrong, why it matters and what mends it; before a server starts, and after.
import { Command, InvalidArgumentError, Option } from "commander";
import { silentLog, systemClock } from "../../base/lib/index.ts";
import { type Account, openDatastore } from "../../calico/datastore/index.ts";
import { type SyncerType, syncerTypes } from "../../calico/model/index.ts";
import { parseServerAddress } from "../../typha/client/index.ts";
import { datastoreOptions, defaultConfigFile } from "../../typha/settings/index.ts";
import { gather } from "../shared/option-values.ts";
import { type TlsFlags, tlsOf, tlsOptions } from "../shared/server-flags.ts";
import { accountOf } from "./account.ts";
import { examineServers, examineSetup, exitCodeOf, reportJson, reportText } from "./index.ts";
import { nodeCommand } from "./node/command.ts";
import { pathCommand } from "./node/path-command.ts";

type DoctorFlags = TlsFlags & {
  server: string[];
  configFile?: string;
  asServiceAccount?: Account;
  type: SyncerType;
  legacyKeys: boolean;
  timeout: number;
  observe: number;
  output: "text" | "json";
};

export function doctorCommand(): Command {
  const command = new Command("doctor")
    .option(
      "--server <host:port>",
      "check this running server; may be given several times, to compare servers",
      gather,
      [],
    )
    .option("--as-service-account <namespace/name>", "look at the rights of this account, not at your own", accountOf)
    .option("-c, --config-file <file>", `the server's settings file (default: ${defaultConfigFile})`)
    .addOption(new Option("--type <syncer>", "data set to follow").choices(syncerTypes).default("felix"))
    .option("--legacy-keys", "connect like a client of v3.31 or older", false)
    .option("--timeout <seconds>", "how long to wait for a server to be in sync", seconds, 30)
    .option("--observe <seconds>", "how long to compare changes after all servers are in sync", seconds, 2)
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"));
  return tlsOptions(command)
    .addHelpText(
      "after",
      `
The exit code is 0 when all is well, 1 with warnings, 2 when something is broken.

Examples:
  cattail doctor                                                    with the server's environment, before it starts
  cattail doctor --as-service-account kube-system/calico-typha     has the account that will run it all rights?
  cattail doctor --server 10.0.0.7:5473 --certs certs               from a node's side, with a node's certificate
  cattail doctor --server 10.0.0.7:5473 --server 10.0.0.8:5473 …    do they serve the same?
  cattail doctor -o json | jq '.findings[] | select(.level == "broken")'

The network of a node, and the way between two pods: cattail doctor node --help, cattail doctor path --help`,
    )
    .addCommand(nodeCommand())
    .addCommand(pathCommand())
    .action(doctor);
}

async function doctor(flags: DoctorFlags): Promise<void> {
  // Until it is known better: a doctor that could not look must not be taken for one that found only warnings.
  process.exitCode = 2;
  const after = flags.server.length === 0 ? undefined : await lookAtServers(flags);
  const sections = after?.sections ?? (await lookAtSetup(flags));
  const isColoured = process.stdout.isTTY && (process.env.NO_COLOR ?? "") === "";
  process.stdout.write(
    `${flags.output === "json" ? reportJson(sections, after) : reportText(sections, { isColoured })}\n`,
  );
  process.exitCode = exitCodeOf(sections);
}

function lookAtSetup(flags: DoctorFlags) {
  return examineSetup({
    environment: process.env,
    ...(flags.configFile === undefined ? {} : { configFile: flags.configFile }),
    ...(flags.asServiceAccount === undefined ? {} : { account: flags.asServiceAccount }),
    openDatastore: (settings) => openDatastore(datastoreOptions(settings), { clock: systemClock, log: silentLog }),
    clock: systemClock,
  });
}

function lookAtServers(flags: DoctorFlags) {
  return examineServers({
    servers: flags.server.map(parseServerAddress),
    tls: tlsOf(flags, process.env),
    type: flags.type,
    policyKeys: flags.legacyKeys ? "legacy" : "modern",
    timeoutMs: flags.timeout * 1000,
    observeMs: flags.observe * 1000,
    clock: systemClock,
  });
}

function seconds(text: string): number {
  const value = Number(text);
  if (text === "" || !(value >= 0) || value > 3600)
    throw new InvalidArgumentError("It has to be a number of seconds from 0 to 3600.");
  return value;
}
