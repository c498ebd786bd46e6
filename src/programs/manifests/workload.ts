// The Deployment and what belongs to it: Service, PodDisruptionBudget and, on request, a ServiceMonitor.
import type { InstallOptions, Manifest } from "./options.ts";
import { resourcesOf } from "./sizing.ts";

const certificateMount = "/calico-typha-certs";
const authorityMount = "/calico-typha-ca";
const certificateMounts = [
  { name: "certs", mountPath: certificateMount, readOnly: true },
  { name: "ca", mountPath: authorityMount, readOnly: true },
];

export function workloadManifests(options: InstallOptions): Manifest[] {
  const labels = labelsOf(options);
  const metadata = { name: options.name, namespace: options.namespace, labels };
  const deployment: Manifest = deploymentOf(options);
  // The Service that is there finds these servers by its label; its disruption budget counts them too.
  if (options.service !== options.name) return [deployment];
  return [
    deployment,
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: {
        selector: labels,
        ports: servicePorts(options),
      },
    },
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata,
      spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
    },
  ];
}

/** By the first a Service finds its servers; by the second a Deployment tells its own from others behind that Service. */
function labelsOf({ name, service }: InstallOptions): { [label: string]: string } {
  return { "k8s-app": service, ...(service === name ? {} : { "app.kubernetes.io/instance": name }) };
}

function deploymentOf(options: InstallOptions): Manifest {
  const labels = labelsOf(options);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: options.name, namespace: options.namespace, labels },
    spec: {
      replicas: options.replicas,
      revisionHistoryLimit: 2,
      selector: { matchLabels: labels },
      // One at a time, and the new one first has to be ready: clients always have somewhere to go.
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      template: { metadata: { labels, annotations: podAnnotations }, spec: podSpec(options) },
    },
  };
}

/** For clusters with the Prometheus operator. The metrics port has to be on. */
export function serviceMonitor(options: InstallOptions): Manifest {
  const labels = { "k8s-app": options.name };
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "ServiceMonitor",
    metadata: { name: options.name, namespace: options.namespace, labels },
    spec: { selector: { matchLabels: labels }, endpoints: [{ port: "metrics", interval: "30s" }] },
  };
}

// Rebalancing and the clients look for the port by the name "calico-typha".
function servicePorts(options: InstallOptions): unknown[] {
  const ports = [{ name: "calico-typha", port: options.port, protocol: "TCP", targetPort: "calico-typha" }];
  if (options.metricsPort !== undefined) {
    ports.push({ name: "metrics", port: options.metricsPort, protocol: "TCP", targetPort: "metrics" });
  }
  return ports;
}

const podAnnotations = { "cluster-autoscaler.kubernetes.io/safe-to-evict": "true" };

function podSpec(options: InstallOptions): unknown {
  return {
    // calico-node needs Typha before there is a pod network, so Typha cannot wait for one.
    hostNetwork: true,
    nodeSelector: { "kubernetes.io/os": "linux" },
    serviceAccountName: options.serviceAccount,
    priorityClassName: "system-cluster-critical",
    terminationGracePeriodSeconds: options.shutdownTimeoutSeconds,
    // Any node will do, one that is not ready above all: nodes become ready when calico-node runs, which waits for Typha.
    tolerations: [
      { key: "CriticalAddonsOnly", operator: "Exists" },
      { effect: "NoSchedule", operator: "Exists" },
      { effect: "NoExecute", operator: "Exists" },
    ],
    // Two replicas on one host would fight for the port. "Required" makes the scheduler say so at once (a Pending pod
    // with "didn't match pod anti-affinity rules") where a host-port conflict looks like a lack of room.
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { "k8s-app": options.service } }, topologyKey: "kubernetes.io/hostname" },
        ],
      },
    },
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 10001,
      runAsGroup: 10001,
      fsGroup: 10001,
      seccompProfile: { type: "RuntimeDefault" },
    },
    containers: [container(options)],
    volumes: volumes(options),
  };
}

function container(options: InstallOptions): unknown {
  return {
    name: "calico-typha",
    image: options.image,
    args: ["typha"],
    ports: [
      { name: "calico-typha", containerPort: options.port, protocol: "TCP" },
      ...(options.metricsPort === undefined
        ? []
        : [{ name: "metrics", containerPort: options.metricsPort, protocol: "TCP" }]),
    ],
    env: environment(options),
    livenessProbe: probe("/liveness", options.healthPort, { initialDelaySeconds: 30, periodSeconds: 30 }),
    readinessProbe: probe("/readiness", options.healthPort, { periodSeconds: 10 }),
    resources: resourcesOf(options),
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts: [
      ...(options.certificates.from === "nowhere" ? [] : certificateMounts),
      // The root is read-only; the single executable unpacks its native codecs here for a moment.
      { name: "tmp", mountPath: "/tmp" },
    ],
  };
}

function environment(options: InstallOptions): { name: string; value: string }[] {
  const settings: [string, string][] = [
    ["TYPHA_LOGFILEPATH", "none"],
    ["TYPHA_LOGSEVERITYSYS", "none"],
    ["TYPHA_LOGSEVERITYSCREEN", "info"],
    ["TYPHA_CONNECTIONREBALANCINGMODE", "kubernetes"],
    ["TYPHA_DATASTORETYPE", "kubernetes"],
    ["TYPHA_K8SNAMESPACE", options.namespace],
    ["TYPHA_K8SSERVICENAME", options.service],
    ["TYPHA_SERVERPORT", String(options.port)],
    ["TYPHA_HEALTHENABLED", "true"],
    ["TYPHA_HEALTHPORT", String(options.healthPort)],
    ["TYPHA_SHUTDOWNTIMEOUTSECS", String(options.shutdownTimeoutSeconds)],
  ];
  if (options.certificates.from !== "nowhere") {
    settings.push(["TYPHA_CAFILE", `${authorityMount}/typhaca.crt`]);
    settings.push(["TYPHA_CLIENTCN", options.clientCn]);
    settings.push(["TYPHA_SERVERCERTFILE", `${certificateMount}/typha.crt`]);
    settings.push(["TYPHA_SERVERKEYFILE", `${certificateMount}/typha.key`]);
  }
  if (options.apiGroup === "projectcalico.org") settings.push(["CALICO_API_GROUP", "projectcalico.org/v3"]);
  if (options.metricsPort !== undefined) {
    settings.push(["TYPHA_PROMETHEUSMETRICSENABLED", "true"]);
    settings.push(["TYPHA_PROMETHEUSMETRICSPORT", String(options.metricsPort)]);
  }
  return settings.map(([name, value]) => ({ name, value }));
}

function probe(path: string, port: number, timing: object): unknown {
  return { httpGet: { host: "localhost", path, port }, timeoutSeconds: 10, ...timing };
}

function volumes(options: InstallOptions): unknown[] {
  const tmp = { name: "tmp", emptyDir: { sizeLimit: "64Mi" } };
  const source = options.certificates;
  if (source.from === "nowhere") return [tmp];
  if (source.from === "host") {
    const hostPath = { path: source.directory, type: "Directory" };
    return [{ name: "certs", hostPath }, { name: "ca", hostPath }, tmp];
  }
  return [
    {
      name: "certs",
      secret: { secretName: source.secret, defaultMode: 0o440, ...items(certificateFiles(source.keys)) },
    },
    { name: "ca", configMap: { name: source.caConfigMap, ...items(authorityFiles(source.keys)) } },
    tmp,
  ];
}

type Keys = Extract<InstallOptions["certificates"], { from: "secret" }>["keys"];

const certificateFiles = (keys: Keys) => (keys ? { [keys.certificate]: "typha.crt", [keys.key]: "typha.key" } : {});
const authorityFiles = (keys: Keys) => (keys ? { [keys.authority]: "typhaca.crt" } : {});

/** Of a volume: which key is mounted as which file; nothing where they are called the same. */
function items(files: { [key: string]: string }): { items?: { key: string; path: string }[] } {
  const found = Object.entries(files).map(([key, path]) => ({ key, path }));
  return found.length === 0 ? {} : { items: found };
}
