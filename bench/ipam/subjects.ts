// Who is measured: the library in a program that lives on the node, our plugin as a runtime starts it, and the original's.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { openKubernetes } from "../../src/calico/datastore/index.ts";
import { openResident, type ResidentIpam } from "../../src/calico/ipam-resident/index.ts";
import { eventually } from "../../test/kit/eventually.ts";

export type Subject = {
  readonly who: string;
  add(container: string): Promise<void>;
  del(container: string): Promise<void>;
};

const network = "k8s-pod-network";

export type Stage = { readonly folder: string; readonly kubeconfig: string; readonly node: string };

/** As the resident half of a CNI plugin uses it; what lies between the two is not measured. */
export async function residentSubject(
  { kubeconfig, node }: Stage,
  signal: AbortSignal,
): Promise<Subject & { readonly ipam: ResidentIpam }> {
  const edge = { clock: systemClock, random: Math.random };
  const datastore = await openKubernetes({ kubeconfig, clientQps: -1 }, { clock: systemClock, log: silentLog });
  const ipam = openResident({ ...edge, datastore, node, signal });
  await eventually(() => ipam.isWarm, "the cache is fed");
  return {
    who: "cattail, resident",
    ipam,
    async add(container) {
      const attributes = { node, pod: container, namespace: "default", timestamp: new Date().toISOString() };
      const readLabels = async () => {
        const namespace = await datastore.get("Namespace", { namespace: "", name: "default" });
        return namespace === undefined ? {} : { "projectcalico.org/name": "default" };
      };
      const namespaceLabels = await ipam.namespaceLabels(readLabels);
      const isSame = () => true;
      const handle = `${network}.${container}`;
      const wanted = {
        node,
        use: "Workload",
        handle,
        attributes,
        isSame,
        namespaceLabels,
        ipv4: { count: 1 },
      } as const;
      await ipam.autoAssign(wanted);
    },
    async del(container) {
      await ipam.releaseByHandle(`${network}.${container}`);
      await ipam.releaseByHandle(`default.${container}`);
    },
  };
}

/** A program that is started for each call, as container runtimes do. */
export function programSubject(who: string, command: readonly string[], { folder, kubeconfig, node }: Stage): Subject {
  const configuration = JSON.stringify({
    cniVersion: "0.3.1",
    name: network,
    type: "calico",
    datastore_type: "kubernetes",
    nodename: node,
    nodename_file_optional: true,
    log_file_path: join(folder, "cni.log"),
    ipam_lock_file: join(folder, "ipam.lock"),
    ipam: { type: "calico-ipam" },
    policy: { type: "k8s" },
    kubernetes: { kubeconfig },
  });
  const call = async (CNI_COMMAND: string, container: string) => {
    const [program = "", ...parameters] = command;
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      CNI_COMMAND,
      CNI_CONTAINERID: container,
      CNI_NETNS: "/var/run/netns/none",
      CNI_IFNAME: "eth0",
      CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${container}`,
      CNI_PATH: "/opt/cni/bin",
    };
    const child = spawn(program, parameters, { env, stdio: ["pipe", "pipe", "pipe"] });
    child.stdin.end(configuration);
    const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    if (code !== 0) throw new Error(`${who}: ${CNI_COMMAND} ended with ${code}: ${out}${error}`);
  };
  return { who, add: (container) => call("ADD", container), del: (container) => call("DEL", container) };
}

export function writeKubeconfig(folder: string, server: string): string {
  const path = join(folder, "kubeconfig");
  const cluster = { name: "c", cluster: { server } };
  const context = { name: "c", context: { cluster: "c", user: "u" } };
  const users = [{ name: "u", user: {} }];
  const whole = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [cluster],
    users,
    contexts: [context],
    "current-context": "c",
  };
  writeFileSync(path, JSON.stringify(whole));
  return path;
}
