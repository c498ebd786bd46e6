// `cattail manifests`: the YAML of an installation, for kubectl apply or as the base of a kustomization.
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { CattailError, nearest, silentLog, systemClock } from "../../base/lib/index.ts";
import { customKinds } from "../../calico/kinds/index.ts";
import { gather, namespaceName, objectName, port, serviceName, wholeNumber } from "../shared/option-values.ts";
import { yamlDocuments } from "../shared/yaml-documents.ts";
import {
  besideOperator,
  type CertificateSource,
  defaultInstallOptions,
  defaultNodeOptions,
  type ManifestSet,
  manifestSets,
  manifests,
  type NodeInstallOptions,
} from "./index.ts";

type Flags = {
  namespace: string;
  name: string;
  behindService?: string;
  besideOperator: boolean;
  nodes?: number;
  image?: string;
  serviceAccount?: string;
  missing: boolean;
  only: string[];
  replicas: number;
  apiGroup: "crd.projectcalico.org" | "projectcalico.org";
  secret: string;
  caConfigmap: string;
  hostCerts?: string;
  plaintext: boolean;
  clientCn: string;
  metricsPort?: number;
  serviceMonitor: boolean;
  nodeImage?: string;
  cniImage?: string;
  cniUser?: string;
  backend: NodeInstallOptions["backend"];
  nodeSecret: string;
  typha: boolean;
};

export function manifestsCommand(): Command {
  const defaults = defaultInstallOptions;
  return new Command("manifests")
    .addArgument(new Argument("[set]", "which part").choices(manifestSets).default("all"))
    .option("-n, --namespace <name>", "namespace of Typha", namespaceName, defaults.namespace)
    .option(
      "--name <name>",
      "name of the Deployment, Service, ServiceAccount and ClusterRole",
      serviceName,
      defaults.name,
    )
    .option(
      "--behind-service <name>",
      "join the servers of this existing Service; needs a --name of its own",
      serviceName,
    )
    .option("--beside-operator", "for a cluster that Tigera's operator runs: use its Service and certificates", false)
    .option("--nodes <count>", "size of the cluster; sets requests and the memory limit", wholeNumber(1, 10_000))
    .option("--image <image>", "the container image; needed for the Deployment", imageName)
    .option("--service-account <name>", "run as this existing ServiceAccount (default: a new one)", objectName)
    .option("--missing", "print only the CRDs that the cluster lacks; asks its API server (KUBECONFIG)", false)
    .option("--only <kind>", "print only the CRD of this kind; may be given several times", gather, [])
    .option("--replicas <count>", "number of servers; each needs its own node", wholeNumber(1, 1000), defaults.replicas)
    .addOption(
      new Option("--api-group <group>", "API group of Calico's kinds")
        .choices(["crd.projectcalico.org", "projectcalico.org"])
        .default(defaults.apiGroup),
    )
    .option("--secret <name>", "Secret with typha.crt and typha.key", objectName, "calico-typha-certs")
    .option("--ca-configmap <name>", "ConfigMap with typhaca.crt", objectName, "calico-typha-ca")
    .option(
      "--host-certs <directory>",
      "use typha.crt, typha.key and typhaca.crt from this directory on the host",
      absolutePath,
    )
    .addOption(
      new Option("--plaintext", "serve without TLS, as Calico's own manifest does")
        .conflicts(["hostCerts", "secret", "caConfigmap", "clientCn"])
        .default(false),
    )
    .option("--client-cn <name>", "common name that client certificates must have", defaults.clientCn)
    .option("--metrics-port <port>", "serve Prometheus metrics on this port", port)
    .option("--service-monitor", "add a ServiceMonitor for the Prometheus operator (needs --metrics-port)", false)
    .option(
      "--node-image <image>",
      "image of the agent, ours or the original's; with it `all` has the nodes' part too",
      imageName,
    )
    .option("--cni-user <name>", "user of the CNI plugin's client certificate, instead of a service account", userName)
    .option("--cni-image <image>", "image that installs the CNI plugin (default: the agent's)", imageName)
    .addOption(
      new Option("--backend <name>", "how nodes learn routes: BGP by BIRD, VXLAN, or none (policy only)")
        .choices(["bird", "vxlan", "none"])
        .default(defaultNodeOptions.backend),
    )
    .option("--node-secret <name>", "Secret with calico-node.crt and calico-node.key", objectName, "calico-node-certs")
    .option("--no-typha", "nodes watch the API server themselves, without a Typha")
    .addHelpText(
      "after",
      `
Examples:
  cattail manifests crds --missing | kubectl apply --server-side -f -
  cattail manifests rbac | kubectl apply --server-side -f -
  cattail manifests rbac --service-account calico-node      Typha runs as calico-node, as in Calico's own manifest
  cattail manifests typha --image registry.example/cattail:0.2.0 --nodes 500 --replicas 4 > typha.yaml
  cattail manifests typha --name cattail-typha --behind-service calico-typha --replicas 1 --image registry.example/cattail:0.2.0
  cattail manifests cni | kubectl apply -f -                     whom the CNI plugin is, and exactly what it may do
  cattail manifests node --node-image registry.example/cattail-node:0.2.0          the agent and the plugin, on every node
  cattail manifests node --node-image registry.example/cattail-node:0.2.0 --cni-image calico/cni:v3.30.0

These are safe in a cluster that runs Calico: CRDs that are there stay as they are.`,
    )
    .action(async (set: ManifestSet, given: Flags, command: Command) => {
      const flags = given.besideOperator ? besideOperatorFlags(given, command) : given;
      const service = flags.behindService ?? flags.name;
      if (flags.behindService === flags.name) throw sameName(flags.name);
      if (flags.serviceMonitor && flags.metricsPort === undefined) {
        throw new CattailError("MANIFESTS_NO_METRICS_PORT", {
          problem: "--service-monitor was given, but the server has no metrics port to scrape",
          next: "Add --metrics-port 9093",
        });
      }
      if (flags.serviceMonitor && service !== flags.name) {
        throw new CattailError("MANIFESTS_NO_METRICS_PORT", {
          problem: `--service-monitor needs a Service with a metrics port, and ${service} is not made by this command`,
          next: "Leave out --service-monitor, and let Prometheus find the pods by their label k8s-app",
        });
      }
      const image = flags.image ?? "";
      if (image === "" && (set === "typha" || set === "all")) throw noImage();
      if (flags.nodeImage === undefined && set === "node") throw noNodeImage();
      const documents = manifests(set, {
        ...defaults,
        ...flags,
        service,
        image,
        nodes: flags.nodes,
        serviceAccount: flags.serviceAccount ?? flags.name,
        crds: await wantedCrds(set, flags),
        certificates: certificateSource(flags),
        metricsPort: flags.metricsPort,
        node: nodeOptions(flags, service),
        cniUser: flags.cniUser,
      });
      if (documents.length === 0)
        console.error("cattail: the cluster has all of Calico's kinds; there is nothing to apply");
      else console.log(yamlDocuments(documents));
    });
}

async function wantedCrds(set: ManifestSet, flags: Flags): Promise<readonly string[]> {
  for (const kind of flags.only) if (!customKinds.some((known) => known === kind)) throw unknownKind(kind);
  const named = flags.only.length === 0 ? customKinds : customKinds.filter((kind) => flags.only.includes(kind));
  if (!flags.missing || (set !== "crds" && set !== "all")) return named;
  const { openKubernetes } = await import("../../calico/datastore/index.ts");
  const kubeconfig = process.env.KUBECONFIG ?? "";
  const settings = { kubeconfig, apiGroup: flags.apiGroup, allowExec: true, allowProxy: true };
  await using cluster = await openKubernetes(settings, { clock: systemClock, log: silentLog });
  const missing: string[] = [];
  for (const kind of named) if (!(await cluster.isServed(kind, AbortSignal.timeout(patienceMs)))) missing.push(kind);
  return missing;
}

const patienceMs = 15_000;

function unknownKind(kind: string): CattailError {
  const close = nearest(kind, customKinds);
  return new CattailError("MANIFESTS_KIND", {
    problem: `there is no custom resource of Calico called ${kind}`,
    next: close === undefined ? `Name one of: ${customKinds.join(", ")}` : `Did you mean ${close}?`,
  });
}

function noImage(): CattailError {
  return new CattailError("MANIFESTS_NO_IMAGE", {
    problem: "the Deployment needs an image, and none was named",
    next: "Build one with `docker build -t REGISTRY/cattail:TAG .` in a checkout, push it, and add --image REGISTRY/cattail:TAG",
  });
}

function noNodeImage(): CattailError {
  return new CattailError("MANIFESTS_NO_IMAGE", {
    problem: "the DaemonSet needs an image, and none was named",
    next: "Build one with `docker build -f Dockerfile.node -t REGISTRY/cattail-node:TAG .` in a checkout, push it, and add --node-image REGISTRY/cattail-node:TAG",
  });
}

function nodeOptions(flags: Flags, service: string): NodeInstallOptions | undefined {
  if (flags.nodeImage === undefined) return undefined;
  const { namespace, backend, apiGroup, nodeImage, cniImage = nodeImage } = flags;
  const source = certificateSource(flags);
  return {
    ...defaultNodeOptions,
    ...{ namespace, backend, apiGroup, nodeImage, cniImage },
    typhaService: flags.typha ? service : undefined,
    certificates: source.from === "secret" ? { ...source, secret: flags.nodeSecret } : source,
  };
}

/** As container runtimes read it: an optional host with a port, path components, an optional tag and digest. */
const imageForm =
  /^(?:[a-zA-Z0-9][a-zA-Z0-9.-]*(?::\d{1,5})?\/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/;

function imageName(text: string): string {
  if (imageForm.test(text)) return text;
  throw new InvalidArgumentError("It has to be an image, such as registry.example/cattail:0.2.0.");
}

function userName(text: string): string {
  if (/^[\x21-\x7e]{1,253}$/.test(text)) return text;
  throw new InvalidArgumentError("It has to be the common name of a client certificate, such as calico-cni.");
}

function absolutePath(text: string): string {
  if (text.startsWith("/") && !/[\n\0]/.test(text)) return text;
  throw new InvalidArgumentError("It has to be a path on the hosts that begins with /.");
}

/** What the operator made, but for what the command line says itself. */
function besideOperatorFlags(flags: Flags, command: Command): Flags {
  const { certificates, service, ...names } = besideOperator;
  const all = { ...names, behindService: service, secret: certificates.secret, caConfigmap: certificates.caConfigMap };
  const isSaid = (name: string) => command.getOptionValueSource(name) === "cli";
  return { ...flags, ...Object.fromEntries(Object.entries(all).filter(([name]) => !isSaid(name))) };
}

function sameName(name: string): CattailError {
  return new CattailError("MANIFESTS_SAME_NAME", {
    problem: `--behind-service ${name} is for servers beside those that are called ${name}, and these would be called so too`,
    next: "Add --name with another name, such as cattail-typha",
  });
}

function certificateSource(flags: Flags): CertificateSource {
  if (flags.plaintext) return { from: "nowhere" };
  if (flags.hostCerts !== undefined) return { from: "host", directory: flags.hostCerts };
  const named = { from: "secret", secret: flags.secret, caConfigMap: flags.caConfigmap } as const;
  return flags.besideOperator ? { ...named, keys: besideOperator.certificates.keys } : named;
}
