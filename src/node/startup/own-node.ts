// The node's own Node: read first, because everything waits for the datastore there; planned from what is known then; and written when the rights are known
// to be there. Kubernetes' nodes are the kubelet's to make; in etcd and in a folder a missing one is made here.
import type { JsonRecord } from "../../base/lib/index.ts";
import { isResourceError, type V3Object } from "../../calico/resources/index.ts";
import { type ChangeNode, type Configured, configureAddresses, withBgp } from "./addresses/configure.ts";
import { reachFrom } from "./addresses/detect.ts";
import type { HostInterface } from "./addresses/interfaces.ts";
import { listOtherNodes } from "./addresses/other-nodes.ts";
import { newAsNumber } from "./as-number.ts";
import type { ClusterFacts } from "./cluster/facts.ts";
import { isForbidden, isUnauthorized, patiently } from "./cluster/patience.ts";
import { startupError } from "./startup-error.ts";
import type { Step } from "./step.ts";

/** Undefined: there is none, and this datastore lets us make it. */
export type FoundNode = V3Object | "forbidden" | undefined;

export async function readNode({ resources, node, datastore, read, patience, log }: Step): Promise<FoundNode> {
  const isWaiting = read.values.waitForDatastore;
  log.info(isWaiting ? "Checking datastore connection" : "Skipping datastore connection test");
  try {
    const found = await patiently(
      (signal) => resources.get("Node", { namespace: "", name: node }, { signal }),
      patience,
    );
    if (isWaiting) for (const line of ["Datastore connection verified", "Datastore is ready"]) log.info(line);
    return found;
  } catch (error) {
    if (isWaiting && !isUnauthorized(error)) log.info("Datastore connection verified");
    if (isForbidden(error)) return "forbidden"; // said with all other rights
    if (isUnauthorized(error)) {
      throw startupError("Connection to the datastore is unauthorized", {
        cause: error,
        next: "Check the token or certificate of the service account: the server does not know it",
      });
    }
    if (!isResourceError(error, "not-found")) {
      throw startupError("Unable to access datastore to query node configuration", {
        cause: error,
        next: "Check that the datastore runs and can be reached from this node; WAIT_FOR_DATASTORE=true waits for it",
      });
    }
    log.info("Building new node resource", { Name: node });
    if (datastore.flavour === "etcdv3" || datastore.holdsEveryKind === true) return undefined;
    throw startupError("Failed to read Node from datastore", {
      cause: new Error(`nodes "${node}" not found`),
      next: `Set NODENAME to the name of this machine's Node (kubectl get nodes), or let the kubelet register it`,
    });
  }
}

export type NodePlan = { readonly configured: Configured; readonly change: ChangeNode | undefined };

export async function planNode(
  step: Step,
  of: { found: FoundNode; facts: ClusterFacts; interfaces: readonly HostInterface[] },
): Promise<NodePlan> {
  const { read, resources, patience, log, node } = step;
  const current = of.found === undefined || of.found === "forbidden" ? newNode(node) : of.found;
  if (of.found === "forbidden") return { configured: { is: "unchanged" }, change: undefined };
  const configured = await configureAddresses(current, {
    settings: read.values,
    interfaces: of.interfaces,
    internalIps: of.facts.internalIps,
    reach: reachFrom,
    otherNodes: () => listOtherNodes(resources, patience),
    checksAlways: true,
    log,
  });
  if (configured.is === "failed") return { configured, change: configured.clear };
  const asNumber = newAsNumber(current, read.values, log);
  const reference = newReference(current, step);
  if (configured.is === "unchanged" && asNumber === undefined && reference === undefined)
    return { configured, change: undefined };
  const change: ChangeNode = (before) => {
    const addressed = configured.is === "changed" ? configured.change(before) : before;
    const numbered = asNumber === undefined ? addressed : withBgp(addressed, { asNumber });
    return reference === undefined ? numbered : { ...numbered, spec: { ...numbered.spec, orchRefs: reference } };
  };
  return { configured, change };
}

/** Kubernetes has no place for it: there it follows from the Node itself. */
function newReference({ spec }: V3Object, { read, datastore }: Step): readonly JsonRecord[] | undefined {
  const { kubernetesNodeName: nodeName } = read.values;
  if (nodeName === "" || datastore.flavour === "kubernetes") return undefined;
  const wanted = [{ nodeName, orchestrator: "k8s" }];
  return JSON.stringify(spec.orchRefs) === JSON.stringify(wanted) ? undefined : wanted;
}

function newNode(name: string): V3Object {
  return { kind: "Node", apiVersion: "projectcalico.org/v3", metadata: { name }, spec: {} };
}

export async function writeNode(step: Step, found: FoundNode, plan: NodePlan): Promise<void> {
  const { configured, change } = plan;
  if (configured.is === "failed") {
    if (change !== undefined && found !== undefined) {
      await applyToNode(step, change).catch((error: unknown) =>
        step.log.warn("Failed to clear node addresses", { error }),
      );
    }
    throw startupError("Failed to configure IP addresses", {
      cause: new Error(configured.why),
      next: "Choose another IP_AUTODETECTION_METHOD, give the address in IP, or give the other node its own address",
    });
  }
  if (change === undefined) return; // also of a Node that is missing, where Calico does not manage the network
  try {
    if (found !== undefined) await applyToNode(step, change);
    else await createNode(step, change(newNode(step.node)));
  } catch (error) {
    throw startupError("Unable to set node resource configuration", {
      cause: error,
      next: "Grant update of nodes/status, and look whether the datastore answers",
    });
  }
}

async function applyToNode({ resources, node, patience }: Step, change: ChangeNode): Promise<void> {
  const apply = (current: V3Object | undefined) => (current === undefined ? "nothing" : change(current));
  await patiently((signal) => resources.edit("Node", { namespace: "", name: node }, apply, { signal }), patience);
}

async function createNode(step: Step, node: V3Object): Promise<void> {
  try {
    await patiently((signal) => step.resources.create("Node", node, { signal }), step.patience);
  } catch (error) {
    if (!isResourceError(error, "exists")) throw error;
    await applyToNode(step, () => node); // an answer that got lost, or another who was faster
  }
}
