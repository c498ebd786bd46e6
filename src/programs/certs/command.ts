// `cattail certs`: what the guides do with a dozen lines of openssl and kubectl.
import { basename } from "node:path";
import { Command, Option } from "commander";
import {
  describeInspected,
  type Inspected,
  inspectPem,
  type KeyKind,
  type LeafNames,
  lifetimes,
  type PairFiles,
  readPemFile,
  readPemSource,
} from "../../base/security/index.ts";
import {
  filesOf,
  hasPair,
  makeAuthority,
  makePair,
  type Pair,
  readAuthorityCertificate,
  readPair,
  renewPair,
  usualNames,
} from "../../typha/certificates/index.ts";
import { gather, namespaceName, objectName, wholeNumber } from "../shared/option-values.ts";
import { yamlDocuments } from "../shared/yaml-documents.ts";

type MakeFlags = { dir: string; force: boolean; days?: number; key?: KeyKind };
type LeafFlags = MakeFlags & { cn: string; uri: string[]; dns: string[]; ip: string[] };

const examples: { readonly [command: string]: string } = {
  init: "cattail certs init --dir certs",
  server: "cattail certs server --dir certs --dns typha.example.org --ip 192.0.2.10",
  client: "cattail certs client --dir certs --days 90",
  all: "cattail certs all --dir certs",
  inspect: "cattail certs inspect certs/*.crt",
  renew: "cattail certs renew --dir certs --keep-key",
  secret: "cattail certs secret --dir certs | kubectl apply -f -",
};

export function certsCommand(): Command {
  const certs = new Command("certs")
    .addCommand(initCommand())
    .addCommand(leafCommand("server"))
    .addCommand(leafCommand("client"))
    .addCommand(allCommand())
    .addCommand(inspectCommand())
    .addCommand(renewCommand())
    .addCommand(secretCommand());
  for (const command of certs.commands) {
    command.addHelpText("after", `\nExample:\n  ${examples[command.name()]}`);
  }
  return certs.addHelpText(
    "after",
    `
Examples:
  cattail certs all --dir certs                  a CA, the server's pair and the nodes' pair
  cattail certs inspect certs/*.crt              who they are for and when they expire
  cattail certs renew --dir certs                new dates and keys, same names, same CA
  cattail certs secret --dir certs | kubectl apply -f -`,
  );
}

function initCommand(): Command {
  return makeOptions(new Command("init").description("make the CA: typhaca.crt and typhaca.key"))
    .option("--cn <name>", "the CA's common name", "Calico Typha CA")
    .action(async (flags: MakeFlags & { cn: string }) => {
      report([await makeAuthority({ ...makeArguments(flags), commonName: flags.cn })]);
      console.log(
        "Keep typhaca.key safe: whoever has it can speak for every server and node. Next: cattail certs server, cattail certs client.",
      );
    });
}

function leafCommand(role: "server" | "client"): Command {
  const names = usualNames[role];
  const whose =
    role === "server" ? "server's pair: typha.crt and typha.key" : "nodes' pair: calico-node.crt and calico-node.key";
  const command = new Command(role).description(`make the ${whose}`);
  return leafOptions(makeOptions(command), names).action(async (flags: LeafFlags) => {
    report([await makePair(role, { ...makeArguments(flags), names: leafNames(flags, names) })]);
  });
}

function allCommand(): Command {
  return makeOptions(new Command("all").description("make the CA, the server's pair and the nodes' pair")).action(
    async (flags: MakeFlags) => {
      const options = makeArguments(flags);
      const { days: _, ...authority } = options; // --days is about the two that get renewed, not about the CA
      report([await makeAuthority(authority), await makePair("server", options), await makePair("client", options)]);
      console.log(
        `Server: TYPHA_CAFILE=${flags.dir}/typhaca.crt TYPHA_SERVERCERTFILE=${flags.dir}/typha.crt TYPHA_SERVERKEYFILE=${flags.dir}/typha.key TYPHA_CLIENTCN=calico-node` +
          `\nNodes:  FELIX_TYPHACAFILE, FELIX_TYPHACERTFILE and FELIX_TYPHAKEYFILE from typhaca.crt, calico-node.crt and calico-node.key; FELIX_TYPHACN=calico-typha`,
      );
    },
  );
}

function inspectCommand(): Command {
  return new Command("inspect")
    .description("show what certificates are for and when they expire")
    .argument("<file...>", "PEM files")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .action(async (files: string[], flags: { output: string }) => {
      const found: (Inspected & { file: string })[] = [];
      for (const file of files) {
        const inspected = inspectPem(await readPemSource(file), Date.now());
        found.push(...inspected.map((one) => ({ file, ...one })));
      }
      if (flags.output === "json") console.log(JSON.stringify(found, null, 2));
      else for (const inspected of found) console.log(`${inspected.file}\n${indent(describeInspected(inspected))}\n`);
      const isBad = (one: (typeof found)[number]) =>
        one.is === "unreadable" || (one.is === "certificate" && one.status === "expired");
      if (found.some(isBad)) process.exitCode = 1;
    });
}

function renewCommand(): Command {
  return new Command("renew")
    .description("renew the certificates of server and nodes; a running server reloads them without a restart")
    .requiredOption("--dir <directory>", "the folder that `cattail certs` made")
    .option("--days <days>", `how long the new certificates are valid (default: ${lifetimes.leafDays})`, days)
    .option("--keep-key", "sign the old keys again instead of making new ones", false)
    .addOption(keyKindOption("of the new private keys (default: the old ones')"))
    .action(async (flags: { dir: string; days?: number; keepKey: boolean; key?: KeyKind }) => {
      const roles = (["server", "client"] as const).filter((role) => hasPair(role, flags.dir));
      if (roles.length === 0) readPair("server", flags.dir); // says what is missing and how to make it
      const options = { ...makeArguments({ ...flags, force: true }), keepKey: flags.keepKey };
      for (const role of roles) report([await renewPair(role, options)]);
    });
}

function secretCommand(): Command {
  return new Command("secret")
    .description("print the Secrets and the ConfigMap that hold the certificates, for kubectl apply")
    .requiredOption("--dir <directory>", "the folder that `cattail certs` made")
    .option("-n, --namespace <name>", "namespace of these objects", namespaceName, "kube-system")
    .option("--server-secret <name>", "Secret with typha.crt and typha.key", objectName, "calico-typha-certs")
    .option(
      "--client-secret <name>",
      "Secret with calico-node.crt and calico-node.key",
      objectName,
      "calico-node-certs",
    )
    .option("--ca-configmap <name>", "ConfigMap with typhaca.crt", objectName, "calico-typha-ca")
    .action(
      (flags: { dir: string; namespace: string; serverSecret: string; clientSecret: string; caConfigmap: string }) => {
        const names = { authority: flags.caConfigmap, server: flags.serverSecret, client: flags.clientSecret };
        const to = { folder: flags.dir, namespace: flags.namespace };
        const pairs = (["server", "client"] as const).filter((pair) => hasPair(pair, flags.dir));
        if (pairs.length === 0) readPair("server", flags.dir); // says what is missing and how to make it
        const documents = pairs.map((pair) => pairManifest(pair, { ...to, name: names[pair] }));
        console.log(yamlDocuments([authorityManifest({ ...to, name: names.authority }), ...documents]));
      },
    );
}

type Destination = { readonly folder: string; readonly namespace: string; readonly name: string };

// The CA's key stays out of the cluster, and need not be in the folder: nothing here needs it.
function authorityManifest({ folder, namespace, name }: Destination): object {
  const data = { [basename(filesOf("authority", folder).certFile)]: readAuthorityCertificate(folder) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data };
}

function pairManifest(pair: Exclude<Pair, "authority">, { folder, namespace, name }: Destination): object {
  const files = filesOf(pair, folder);
  const { certPem, keyPem } = readPair(pair, folder);
  const stringData = { [basename(files.certFile)]: certPem, [basename(files.keyFile)]: keyPem };
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, type: "Opaque", stringData };
}

function makeOptions(command: Command): Command {
  return command
    .requiredOption("--dir <directory>", "where the files go")
    .option(
      "--days <days>",
      `how long the certificate is valid (default: ${lifetimes.leafDays}; a CA: ${lifetimes.authorityDays})`,
      days,
    )
    .option("--force", "overwrite existing files", false)
    .addOption(keyOption());
}

function keyOption(): Option {
  return keyKindOption("of the private key").default("ecdsa-p256");
}

function keyKindOption(says: string): Option {
  return new Option("--key <kind>", says).choices(["ecdsa-p256", "rsa-2048", "rsa-4096"]);
}

function leafOptions(command: Command, names: LeafNames): Command {
  return command
    .option("--cn <name>", "common name", names.commonName)
    .option("--uri <uri>", "URI SAN, may be given several times", gather, [])
    .addOption(
      insteadOf(
        names.dnsSans,
        "--dns <name>",
        "DNS SAN in place of the usual DNS and IP SANs, may be given several times",
      ),
    )
    .addOption(
      insteadOf(
        names.ipSans,
        "--ip <address>",
        "IP SAN in place of the usual DNS and IP SANs, may be given several times",
      ),
    );
}

function insteadOf(usual: readonly string[] = [], flags: string, says: string): Option {
  return new Option(flags, says).argParser(gather).default([], usual.join(", ") || "none");
}

function leafNames(flags: LeafFlags, usual: LeafNames): LeafNames {
  const own = flags.dns.length > 0 || flags.ip.length > 0;
  return {
    commonName: flags.cn,
    uriSans: flags.uri,
    dnsSans: own ? flags.dns : (usual.dnsSans ?? []),
    ipSans: own ? flags.ip : (usual.ipSans ?? []),
  };
}

function makeArguments({ dir, force, days, key }: MakeFlags) {
  const given = { ...(days === undefined ? {} : { days }), ...(key === undefined ? {} : { keyKind: key }) };
  return { folder: dir, force, nowMs: Date.now(), ...given };
}

function report(pairs: PairFiles[]): void {
  for (const { certFile, keyFile } of pairs) {
    const [certificate] = inspectPem(readPemFile(certFile), Date.now());
    console.log(`${certFile} (key: ${keyFile})`);
    if (certificate !== undefined) console.log(`${indent(describeInspected(certificate))}\n`);
  }
}

const indent = (text: string) => text.replaceAll(/^/gm, "  ");

/** A century: longer than anybody keeps a key. */
const days = wholeNumber(1, 36_500);
