// What runs on every node: the agent's DaemonSet as the hard way has it, with the plugin's installer as its init container. Each image can be ours or the
// original's: paths, variables and probes are the original's, and our image answers to them (Dockerfile.node).
import { followRules, type PolicyRule, rulesFor } from "../../calico/kinds/index.ts";
import type { CertificateSource, Manifest, NodeInstallOptions } from "./options.ts";

const name = "calico-node";
const labels = { "k8s-app": name };
const authorityMount = "/calico-typha-ca";
const certificateMount = "/calico-node-certs";

export function nodeManifests(options: NodeInstallOptions): Manifest[] {
  return [...nodeRbac(options), daemonSet(options)];
}

function nodeRbac({ namespace, apiGroup, typhaService }: NodeInstallOptions): Manifest[] {
  const metadata = { name, labels };
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  const roleRef = (kind: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { ...metadata, namespace } },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata,
      rules: [
        // Without a Typha the agent watches everything itself.
        ...(typhaService === undefined ? followRules(apiGroup) : []),
        ...narrowed(rulesFor("node", apiGroup), (resource) => !isOfNamespace(resource)),
        // The plugin runs with the rights of its own account; its token is asked for by the agent.
        {
          apiGroups: [""],
          resources: ["serviceaccounts/token"],
          resourceNames: ["calico-cni-plugin"],
          verbs: ["create"],
        },
        // The agent answers for the plugin, and needs what it needs.
        ...rulesFor("cni", apiGroup),
      ],
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata,
      roleRef: roleRef("ClusterRole"),
      subjects,
    },
    // Passwords of BGP peers, the Service of Typha: of this namespace alone.
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { ...metadata, namespace },
      rules: [
        ...narrowed(rulesFor("node", apiGroup), isOfNamespace),
        { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list"] },
        { apiGroups: [""], resources: ["endpoints"], verbs: ["get"] },
      ],
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { ...metadata, namespace },
      roleRef: roleRef("Role"),
      subjects,
    },
  ];
}

/** Secrets and ConfigMaps are read in one namespace; to grant them everywhere would hand out the cluster's passwords. */
function isOfNamespace(resource: string): boolean {
  return resource === "secrets" || resource === "configmaps";
}

function narrowed(rules: readonly PolicyRule[], isWanted: (resource: string) => boolean): PolicyRule[] {
  return rules
    .map((rule) => ({ ...rule, resources: rule.resources.filter(isWanted) }))
    .filter(({ resources }) => resources.length > 0);
}

function daemonSet(options: NodeInstallOptions): Manifest {
  const { namespace } = options;
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace, labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
      template: { metadata: { labels }, spec: podSpec(options) },
    },
  };
}

function podSpec(options: NodeInstallOptions): unknown {
  return {
    hostNetwork: true,
    nodeSelector: { "kubernetes.io/os": "linux" },
    serviceAccountName: name,
    priorityClassName: "system-node-critical",
    // What the agent has put into the kernel stays when it ends, so nothing is gained by waiting for it.
    terminationGracePeriodSeconds: 0,
    tolerations: [
      { effect: "NoSchedule", operator: "Exists" },
      { key: "CriticalAddonsOnly", operator: "Exists" },
      { effect: "NoExecute", operator: "Exists" },
    ],
    initContainers: [installer(options)],
    containers: [agent(options)],
    volumes: volumes(options),
  };
}

/** Puts plugin, kubeconfig and conflist on the host, the conflist last: kubelet starts pods when it appears. */
function installer({ cniImage }: NodeInstallOptions): unknown {
  return {
    name: "install-cni",
    image: cniImage,
    command: ["/opt/cni/bin/install"],
    env: [
      { name: "CNI_CONF_NAME", value: "10-calico.conflist" },
      { name: "SLEEP", value: "false" },
      // 0: the size that the agent has found for this host's network.
      { name: "CNI_MTU", value: "0" },
      nodeName("KUBERNETES_NODE_NAME"),
    ],
    // Writes below two folders of the host that belong to root, and nothing else.
    securityContext: {
      runAsUser: 0,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"], add: ["DAC_OVERRIDE"] },
    },
    volumeMounts: [
      { name: "cni-bin-dir", mountPath: "/host/opt/cni/bin" },
      { name: "cni-net-dir", mountPath: "/host/etc/cni/net.d" },
    ],
  };
}

function agent(options: NodeInstallOptions): unknown {
  const probe = {
    exec: { command: ["/bin/calico-node", ...readyFlags(options)] },
    periodSeconds: 10,
    timeoutSeconds: 10,
  };
  return {
    name,
    image: options.nodeImage,
    env: environment(options),
    // Routes, rules and interfaces of the host, pods' namespaces, and sysctls, which only a privileged container may write.
    securityContext: { privileged: true },
    resources: { requests: { cpu: "100m", memory: "128Mi" } },
    lifecycle: { preStop: { exec: { command: ["/bin/calico-node", "-shutdown"] } } },
    livenessProbe: {
      httpGet: { host: "localhost", path: "/liveness", port: 9099 },
      periodSeconds: 10,
      initialDelaySeconds: 10,
      failureThreshold: 6,
      timeoutSeconds: 10,
    },
    readinessProbe: probe,
    volumeMounts: [
      { name: "lib-modules", mountPath: "/lib/modules", readOnly: true },
      { name: "xtables-lock", mountPath: "/run/xtables.lock" },
      { name: "var-run-calico", mountPath: "/var/run/calico" },
      { name: "var-lib-calico", mountPath: "/var/lib/calico" },
      { name: "cni-net-dir", mountPath: "/host/etc/cni/net.d" },
      // As the plugin sees them: the agent answers for a plugin only if both look at the same files.
      { name: "cni-bin-dir", mountPath: "/opt/cni/bin", readOnly: true },
      { name: "cni-net-dir", mountPath: "/etc/cni/net.d", readOnly: true },
      // Namespaces of pods that are made while the agent runs.
      { name: "netns", mountPath: "/var/run/netns", mountPropagation: "HostToContainer" },
      ...(hasTls(options)
        ? [
            { name: "typha-ca", mountPath: authorityMount, readOnly: true },
            { name: "node-certs", mountPath: certificateMount, readOnly: true },
          ]
        : []),
    ],
  };
}

function readyFlags({ backend }: NodeInstallOptions): readonly string[] {
  return backend === "bird" ? ["-bird-ready", "-felix-ready"] : ["-felix-ready"];
}

function environment(options: NodeInstallOptions): unknown[] {
  const { backend, namespace, typhaService, apiGroup } = options;
  const settings: [string, string][] = [
    ["DATASTORE_TYPE", "kubernetes"],
    ["WAIT_FOR_DATASTORE", "true"],
    ["CALICO_NETWORKING_BACKEND", backend],
    ["CLUSTER_TYPE", backend === "bird" ? "k8s,bgp" : "k8s"],
    ["IP", "autodetect"],
    ["CALICO_DISABLE_FILE_LOGGING", "true"],
    ["FELIX_DEFAULTENDPOINTTOHOSTACTION", "ACCEPT"],
    ["FELIX_IPV6SUPPORT", "false"],
    ["FELIX_LOGSEVERITYSCREEN", "info"],
    ["FELIX_HEALTHENABLED", "true"],
  ];
  if (typhaService !== undefined) {
    settings.push(["FELIX_TYPHAK8SSERVICENAME", typhaService], ["FELIX_TYPHAK8SNAMESPACE", namespace]);
    if (hasTls(options))
      settings.push(
        ["FELIX_TYPHACAFILE", `${authorityMount}/typhaca.crt`],
        ["FELIX_TYPHACN", options.typhaCn],
        ["FELIX_TYPHACERTFILE", `${certificateMount}/calico-node.crt`],
        ["FELIX_TYPHAKEYFILE", `${certificateMount}/calico-node.key`],
      );
  }
  if (apiGroup === "projectcalico.org") settings.push(["CALICO_API_GROUP", "projectcalico.org/v3"]);
  return [...settings.map(([variable, value]) => ({ name: variable, value })), nodeName("NODENAME")];
}

function nodeName(variable: string): unknown {
  return { name: variable, valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } };
}

function volumes(options: NodeInstallOptions): unknown[] {
  const host = (volume: string, path: string, type = "DirectoryOrCreate") => ({
    name: volume,
    hostPath: { path, type },
  });
  return [
    host("lib-modules", "/lib/modules", ""),
    host("xtables-lock", "/run/xtables.lock", "FileOrCreate"),
    host("var-run-calico", "/var/run/calico"),
    host("var-lib-calico", "/var/lib/calico"),
    host("cni-bin-dir", "/opt/cni/bin"),
    host("cni-net-dir", "/etc/cni/net.d"),
    host("netns", "/var/run/netns"),
    ...(hasTls(options) ? certificateVolumes(options.certificates) : []),
  ];
}

function hasTls({ typhaService, certificates }: NodeInstallOptions): boolean {
  return typhaService !== undefined && certificates.from !== "nowhere";
}

function certificateVolumes(source: CertificateSource): unknown[] {
  if (source.from === "nowhere") return [];
  if (source.from === "host") {
    const hostPath = { path: source.directory, type: "Directory" };
    return [
      { name: "typha-ca", hostPath },
      { name: "node-certs", hostPath },
    ];
  }
  return [
    { name: "typha-ca", configMap: { name: source.caConfigMap } },
    { name: "node-certs", secret: { secretName: source.secret, defaultMode: 0o400 } },
  ];
}
