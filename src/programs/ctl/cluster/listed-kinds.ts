// Which kinds are listed: all of Calico's and the operator's that the server has, and those of Kubernetes that say how a cluster's network is
// made. Never Secrets.
import { isRecord, type JsonRecord } from "../../../base/lib/index.ts";
import type { KubernetesDatastore } from "../../../calico/datastore/index.ts";

export type ListedKind = { readonly path: string; readonly file: string };

/** Of each group, "" the core's. */
const wanted: { readonly [group: string]: readonly string[] } = {
  "": ["nodes", "namespaces", "pods", "services", "endpoints", "events", "persistentvolumes", "persistentvolumeclaims"],
  apps: ["daemonsets", "deployments", "statefulsets"],
  batch: ["jobs", "cronjobs"],
  "discovery.k8s.io": ["endpointslices"],
  "storage.k8s.io": ["storageclasses"],
  "networking.k8s.io": ["networkpolicies", "ingresses", "ipaddresses", "servicecidrs"],
  "policy.networking.k8s.io": ["adminnetworkpolicies", "baselineadminnetworkpolicies", "clusternetworkpolicies"],
  "gateway.networking.k8s.io": [
    "gatewayclasses",
    "gateways",
    "httproutes",
    "grpcroutes",
    "tcproutes",
    "tlsroutes",
    "udproutes",
  ],
  "k8s.cni.cncf.io": ["network-attachment-definitions"],
  "admissionregistration.k8s.io": ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"],
  "apiregistration.k8s.io": ["apiservices"],
  "apiextensions.k8s.io": ["customresourcedefinitions"],
};

const calicos = /(?:^|\.)(?:projectcalico\.org|tigera\.io)$/;

/** What the server has of them. `failed` is told what could not be looked up. */
export async function listedKinds(
  api: KubernetesDatastore["api"],
  { signal, failed }: { signal: AbortSignal; failed: (what: string, error: unknown) => void },
): Promise<readonly ListedKind[]> {
  const answer = await api.json({ method: "GET", path: "/apis", signal });
  const groups = isRecord(answer) && Array.isArray(answer.groups) ? answer.groups.filter(isRecord) : [];
  const versions = groups.flatMap(({ name, preferredVersion }): [string, string][] => {
    const version = isRecord(preferredVersion) ? preferredVersion.groupVersion : undefined;
    return typeof name === "string" && typeof version === "string" ? [[name, `/apis/${version}`]] : [];
  });
  const asked = [["", "/api/v1"] as const, ...versions].filter(
    ([group]) => Object.hasOwn(wanted, group) || calicos.test(group),
  );
  const found = await Promise.all(
    asked.map(async ([group, path]) => {
      try {
        return kindsOf(await api.json({ method: "GET", path, signal }), { group, path });
      } catch (error) {
        signal.throwIfAborted();
        failed(`listing the kinds of ${path}`, error); // an aggregated server that is away
        return [];
      }
    }),
  );
  return found.flat();
}

function kindsOf(answer: unknown, { group, path }: { group: string; path: string }): ListedKind[] {
  const resources = isRecord(answer) && Array.isArray(answer.resources) ? answer.resources.filter(isRecord) : [];
  const isWanted = ({ name, verbs, kind }: JsonRecord) =>
    typeof name === "string" &&
    !name.includes("/") &&
    kind !== "Secret" &&
    Array.isArray(verbs) &&
    verbs.includes("list") &&
    (calicos.test(group) || (wanted[group] ?? []).includes(name));
  return resources.filter(isWanted).map(({ name }) => {
    const folder = calicos.test(group) ? "crd" : "kubernetes";
    return { path: `${path}/${name}`, file: `cluster/${folder}/${name}${group === "" ? "" : `.${group}`}.yaml` };
  });
}
