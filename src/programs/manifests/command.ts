// `cattail manifests`: the YAML of an installation, for kubectl apply or as the base of a kustomization.
import { Argument, Command, Option } from "commander";
import { CattailError } from "../../base/lib/index.ts";
import { namespaceName, objectName, port, serviceName, wholeNumber } from "../shared/option-values.ts";
import { yamlDocuments } from "../shared/yaml-documents.ts";
import { type CertificateSource, defaultInstallOptions, type ManifestSet, manifestSets, manifests } from "./index.ts";

type Flags = {
  namespace: string;
  name: string;
  image: string;
  replicas: number;
  apiGroup: "crd.projectcalico.org" | "projectcalico.org";
  secret: string;
  caConfigmap: string;
  hostCerts?: string;
  clientCn: string;
  metricsPort?: number;
  serviceMonitor: boolean;
};

export function manifestsCommand(): Command {
  const defaults = defaultInstallOptions;
  return new Command("manifests")
    .addArgument(new Argument("[set]", "which part").choices(manifestSets).default("all"))
    .option("-n, --namespace <name>", "where Typha runs", namespaceName, defaults.namespace)
    .option("--name <name>", "of the Deployment, Service, ServiceAccount and ClusterRole", serviceName, defaults.name)
    .option("--image <image>", "the container image", defaults.image)
    .option(
      "--replicas <count>",
      "how many servers; each needs a node of its own",
      wholeNumber(1, 1000),
      defaults.replicas,
    )
    .addOption(
      new Option("--api-group <group>", "where Calico's kinds live")
        .choices(["crd.projectcalico.org", "projectcalico.org"])
        .default(defaults.apiGroup),
    )
    .option("--secret <name>", "Secret with typha.crt and typha.key", objectName, "calico-typha-certs")
    .option("--ca-configmap <name>", "ConfigMap with typhaca.crt", objectName, "calico-typha-ca")
    .option(
      "--host-certs <directory>",
      "take typha.crt, typha.key and typhaca.crt from this directory of the host instead",
    )
    .option("--client-cn <name>", "the common name client certificates must carry", defaults.clientCn)
    .option("--metrics-port <port>", "serve Prometheus metrics on this port", port)
    .option("--service-monitor", "add a ServiceMonitor for the Prometheus operator (needs --metrics-port)", false)
    .addHelpText(
      "after",
      `
Examples:
  cattail manifests all | kubectl apply -f -
  cattail manifests rbac --namespace calico-system
  cattail manifests typha --image registry.example/cattail:0.1.0 --replicas 5 > typha.yaml`,
    )
    .action((set: ManifestSet, flags: Flags) => {
      if (flags.serviceMonitor && flags.metricsPort === undefined) {
        throw new CattailError("MANIFESTS_NO_METRICS_PORT", {
          problem: "--service-monitor was given, but the server has no metrics port to scrape",
          next: "Add --metrics-port 9093",
        });
      }
      const documents = manifests(set, {
        ...defaults,
        ...flags,
        certificates: certificateSource(flags),
        metricsPort: flags.metricsPort,
      });
      console.log(yamlDocuments(documents));
    });
}

function certificateSource(flags: Flags): CertificateSource {
  if (flags.hostCerts !== undefined) return { from: "host", directory: flags.hostCerts };
  return { from: "secret", secret: flags.secret, caConfigMap: flags.caConfigmap };
}
