// `cattail explain`: may these two talk, and which rule says so. On a live cluster, through a Typha, or on a folder of manifests.
import { Command, Option } from "commander";
import { CattailError, colouredText, plainLine, silentLog } from "../../base/lib/index.ts";
import type { DatastoreOptions } from "../../calico/datastore/index.ts";
import {
  answer,
  matrixOf,
  matrixText,
  namespacesWithPods,
  parseSubject,
  reportJson,
  reportText,
  subjectForms,
} from "../../calico/explain/index.ts";
import { gather, port } from "../shared/option-values.ts";
import { type TlsFlags, tlsOf, tlsOptions } from "../shared/server-flags.ts";
import { check, readExpectations } from "./check-file.ts";
import { type Loaded, loadFromDatastore, loadFromFolder, loadFromTypha, notInSync } from "./load-data.ts";

type ExplainFlags = TlsFlags & {
  port?: number;
  protocol: string;
  ipv6: boolean;
  namespace?: string;
  allNamespaces: boolean;
  matrix: boolean;
  check?: string;
  output: "text" | "json";
  datastore?: "kubernetes" | "etcdv3" | "directory";
  filename?: string;
  kubeconfig?: string;
  context?: string;
  etcd?: string;
  server: string[];
};

export function explainCommand(): Command {
  const command = new Command("explain")
    .argument("[source]", "who sends: NAMESPACE/POD, an address, node/NAME, hostendpoint/NAME, or NAMESPACE/app=web")
    .argument("[destination]", "who receives")
    .option("-p, --port <number>", "port of the destination (default: every port, in ranges)", port)
    .option("--protocol <name>", "tcp, udp, sctp, icmp, or a number", "tcp")
    .option("-6, --ipv6", "between the IPv6 addresses", false)
    .option("-n, --namespace <name>", 'namespace of names without one (default: "default")')
    .option("-A, --all-namespaces", "with --matrix: the pods of every namespace", false)
    .option("--matrix", "who may talk to whom, as a table of the pods of a namespace", false)
    .option("--check <file>", "compare with the verdicts that a file expects; exit code 1 when one differs")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .addOption(
      new Option(
        "--datastore <type>",
        "where policies are read from (or DATASTORE_TYPE; default: kubernetes, or directory with -f)",
      ).choices(["kubernetes", "etcdv3", "directory"]),
    )
    .option("-f, --filename <folder>", "folder of manifests")
    .option("--kubeconfig <file>", "credentials of the API server (or KUBECONFIG)")
    .option("--context <name>", "context of the kubeconfig")
    .option("--etcd <urls>", "endpoints of etcd (or ETCD_ENDPOINTS)")
    .option("--server <host:port>", "ask a Typha instead of a datastore (or FELIX_TYPHAADDR)", gather, []);
  return tlsOptions(command)
    .addHelpText(
      "after",
      `
Who can be asked about:
${subjectForms}

Examples:
  cattail explain shop/web shop/db --port 5432              may they talk, and which rule says so
  cattail explain shop/web 1.1.1.1 --protocol udp -p 53     towards an address outside
  cattail explain shop/app=web shop/db -f manifests/        a pod that does not exist yet, on a folder of manifests
  cattail explain --matrix -n shop                          who may talk to whom
  cattail explain --check flows.yaml -f manifests/          a test of policies, for CI; flows.yaml:
    - {from: shop/web, to: shop/db, port: 5432, expect: allow}
    - {from: default/app=any, to: shop/db, expect: deny}`,
    )
    .action(explain);
}

async function explain(
  source: string | undefined,
  destination: string | undefined,
  flags: ExplainFlags,
): Promise<void> {
  const questions = [flags.matrix, flags.check !== undefined, source !== undefined].filter((asked) => asked).length;
  if (questions !== 1 || (source !== undefined && destination === undefined))
    throw new CattailError("EXPLAIN_QUESTION", {
      problem: "explain takes a source and a destination, or --matrix, or --check FILE",
      next: "For example: cattail explain shop/web shop/db --port 5432. cattail explain --help shows all forms",
    });
  const expectations = flags.check === undefined ? [] : readExpectations(flags.check);
  const loaded = await load(flags);
  for (const note of loaded.notes) process.stderr.write(`note: ${plainLine(note)}\n`);
  const isColoured = process.stdout.isTTY && (process.env.NO_COLOR ?? "") === "";
  if (flags.matrix) print(matrix(flags, loaded, isColoured));
  else if (flags.check !== undefined) print(checks(expectations, flags, loaded));
  else if (source !== undefined && destination !== undefined)
    print(pair(source, destination, flags, loaded, isColoured));
}

/** Names and selectors are what somebody has written. */
function print(text: string): void {
  process.stdout.write(`${colouredText(text)}\n`);
}

function pair(
  source: string,
  destination: string,
  flags: ExplainFlags,
  { data, sources }: Loaded,
  isColoured: boolean,
): string {
  const namespace = flags.namespace ?? "default";
  const asked = {
    source: parseSubject(source, namespace),
    destination: parseSubject(destination, namespace),
    protocol: flags.protocol,
    port: flags.port,
    family: flags.ipv6 ? (6 as const) : undefined,
  };
  const answered = answer(asked, data);
  if (flags.output === "json") return JSON.stringify(reportJson(answered, sources), undefined, 2);
  return reportText(answered, { ...sources, isColoured });
}

function matrix(flags: ExplainFlags, { data }: Loaded, isColoured: boolean): string {
  const namespace = flags.allNamespaces ? "" : (flags.namespace ?? "default");
  const found = matrixOf({ namespace, protocol: flags.protocol, port: flags.port, family: flags.ipv6 ? 6 : 4 }, data);
  if (flags.output === "json") return JSON.stringify(found, undefined, 2);
  return matrixText(found, { isColoured, namespaces: namespacesWithPods(data) });
}

function checks(
  expectations: ReturnType<typeof readExpectations>,
  flags: ExplainFlags,
  { data, sources }: Loaded,
): string {
  const checked = expectations.map((one) => check(one, data, flags.namespace ?? "default", flags.ipv6 ? 6 : undefined));
  const failed = checked.filter(({ isMet }) => !isMet);
  if (failed.length > 0) process.exitCode = 1;
  if (flags.output === "json")
    return JSON.stringify(
      checked.map(({ expectation, isMet, ...said }) => ({
        ...expectation,
        isMet,
        ...("answered" in said ? { answer: reportJson(said.answered, sources) } : { problem: said.problem }),
      })),
      undefined,
      2,
    );
  const lines = checked.map(({ expectation: { from, to, protocol, port: number, expect }, isMet, ...said }) => {
    const traffic = number === undefined ? protocol : `${protocol} ${number}`;
    const unlike = "problem" in said ? `expected ${expect}, and ${said.problem}` : `expected ${expect}`;
    return `${isMet ? "ok  " : "FAIL"} ${from} -> ${to}, ${traffic}: ${isMet ? expect : unlike}`;
  });
  const why = failed.flatMap((one) =>
    "answered" in one ? [reportText(one.answered, { ...sources, isColoured: false })] : [],
  );
  return [
    ...lines,
    ...why.flatMap((text) => ["", text]),
    "",
    `${checked.length - failed.length} as expected, ${failed.length} not`,
  ].join("\n");
}

async function load(flags: ExplainFlags): Promise<Loaded> {
  const { FELIX_TYPHAADDR: fromEnvironment = "" } = process.env;
  const servers = flags.server.length > 0 || fromEnvironment === "" ? flags.server : [fromEnvironment];
  const isDatastoreNamed =
    flags.datastore !== undefined ||
    flags.filename !== undefined ||
    flags.kubeconfig !== undefined ||
    flags.etcd !== undefined;
  if (flags.server.length > 0 && isDatastoreNamed)
    throw new CattailError("EXPLAIN_DATASTORE", {
      problem: "--server asks a Typha, and another flag names a datastore (-f, --kubeconfig, --etcd or --datastore)",
      next: "Give one of them",
    });
  const signal = AbortSignal.timeout(60_000);
  if (flags.server.length === 0 && (isDatastoreNamed || servers.length === 0)) {
    const datastore = datastoreOf(flags);
    return await (datastore.type === "directory"
      ? loadFromFolder(datastore.path, signal)
      : loadFromDatastore(datastore, signal));
  }
  const tls = tlsOf(flags, process.env);
  try {
    return await loadFromTypha({
      servers,
      signal,
      info: "cattail explain",
      maxFailures: 3,
      log: silentLog,
      ...(tls === undefined ? {} : { tls }),
    });
  } catch (error) {
    if (error !== signal.reason) throw error;
    throw notInSync("the server has not said everything within a minute", error);
  }
}

function datastoreOf(flags: ExplainFlags): DatastoreOptions {
  const { DATASTORE_TYPE: named, ETCD_ENDPOINTS: endpoints = "" } = process.env;
  const etcd = flags.etcd ?? endpoints;
  const type =
    flags.datastore ??
    (flags.filename !== undefined ? "directory" : flags.etcd !== undefined ? "etcdv3" : (named ?? "kubernetes"));
  switch (type) {
    case "directory":
      if (flags.filename === undefined) throw missing("a folder of manifests", "-f FOLDER");
      return { type, path: flags.filename };
    case "etcdv3":
      if (etcd === "") throw missing("the endpoints of etcd", "--etcd http://127.0.0.1:2379");
      return { type, endpoints: etcd.split(",") };
    case "kubernetes": {
      const kubeconfig = flags.kubeconfig ?? process.env.KUBECONFIG;
      return {
        type,
        ...(kubeconfig === undefined ? {} : { kubeconfig }),
        ...(flags.context === undefined ? {} : { currentContext: flags.context }),
      };
    }
    default:
      throw new CattailError("EXPLAIN_DATASTORE", {
        problem: `${JSON.stringify(type)} (DATASTORE_TYPE) is no datastore`,
        next: "Set kubernetes, etcdv3 or directory",
      });
  }
}

function missing(what: string, flag: string): CattailError {
  return new CattailError("EXPLAIN_DATASTORE", { problem: `${what} is not given`, next: `Give ${flag}` });
}
