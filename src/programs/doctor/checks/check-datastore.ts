// Whether the datastore answers and knows us, and for Kubernetes which of the kinds it has and which of them we may use.

import { CattailError, messageOf } from "../../../base/lib/index.ts";
import {
  type Account,
  type Datastore,
  isDatastoreError,
  type KubernetesDatastore,
  manifestProblemText,
} from "../../../calico/datastore/index.ts";
import { followedKinds, type Kind, kindInfo } from "../../../calico/kinds/index.ts";
import { type Finding, passed, problem, type Section } from "../finding.ts";
import { checkRights } from "./check-rights.ts";

const patienceMs = 15_000;
/** Whoever has more of them than this has one reason for all. */
const mostManifestProblems = 20;

export async function checkDatastore(open: () => Promise<Datastore>, account?: Account): Promise<Section[]> {
  let datastore: Datastore;
  try {
    datastore = await open();
  } catch (error) {
    const what = error instanceof CattailError ? error.problem : messageOf(error);
    const better = error instanceof CattailError ? { fix: error.next } : {};
    return [{ name: "datastore", findings: [problem("DATASTORE_SETTINGS", what, better)] }];
  }
  await using _ = datastore;
  try {
    return isKubernetes(datastore) ? await checkKubernetes(datastore, account) : [await checkOther(datastore)];
  } catch (error) {
    return [{ name: "datastore", findings: [unreachable(error, datastore)] }];
  }
}

function isKubernetes(datastore: Datastore): datastore is KubernetesDatastore {
  return "mayI" in datastore;
}

async function checkKubernetes(datastore: KubernetesDatastore, account: Account | undefined): Promise<Section[]> {
  const group = await datastore.calicoGroup(AbortSignal.timeout(patienceMs));
  // Everyone who is known at all may ask what there is, so this also tells whether we are known.
  const served = new Map<Kind, boolean>();
  for (const kind of followedKinds) {
    if (kindInfo(kind).kubernetes === undefined) continue;
    served.set(kind, await datastore.isServed(kind, AbortSignal.timeout(patienceMs)));
  }
  const there = [...served].flatMap(([kind, isServed]) => (isServed ? [kind] : []));
  const findings = [passed(`the API server answers and knows us; Calico's kinds are in ${group}`)];
  return [
    { name: "datastore", findings: [...findings, ...checkKinds(served)] },
    {
      name: "rights",
      findings: [await checkAsker(datastore, account), ...(await checkRights(datastore, there, account))],
    },
  ];
}

/** Rights are somebody's: whoever reads of missing ones must know whose. */
async function checkAsker(datastore: KubernetesDatastore, account: Account | undefined): Promise<Finding> {
  const {
    from,
    user = "somebody the server does not name",
    groups,
  } = await datastore.whoAsks(AbortSignal.timeout(patienceMs));
  const of = groups.length === 0 ? "" : ` (groups: ${groups.join(", ")})`;
  const asker = `${user}${of}, with the credentials of ${from}`;
  if (account !== undefined)
    return passed(`asked by ${asker}, for the service account ${account.namespace}/${account.name}`);
  return passed(`asked as ${asker}; --as-service-account NAMESPACE/NAME asks for another`);
}

function checkKinds(served: ReadonlyMap<Kind, boolean>): Finding[] {
  const missing = [...served].flatMap(([kind, isServed]) => (isServed ? [] : [kind]));
  const custom = [...served.keys()].filter((kind) => kindInfo(kind).whenMissing === "custom-resource");
  const missingCustom = missing.filter((kind) => custom.includes(kind));
  const apis = missing.filter((kind) => !custom.includes(kind)).map((kind) => problem("API_MISSING", `no ${kind}`));
  if (missingCustom.length === 0) return [passed(`all ${custom.length} kinds of Calico are there`), ...apis];
  if (missingCustom.length === custom.length)
    return [problem("CRDS_MISSING", "none of Calico's kinds is there"), ...apis];
  const only = missingCustom.map((kind) => `--only ${kind}`).join(" ");
  const fix = `cattail manifests crds ${only} | kubectl apply --server-side -f -`;
  return [problem("CRD_MISSING", `missing: ${missingCustom.join(", ")}`, { fix }), ...apis];
}

async function checkOther(datastore: Datastore): Promise<Section> {
  let count = 0;
  for await (const page of datastore.list("ClusterInformation", { signal: AbortSignal.timeout(patienceMs) })) {
    count += page.items.length;
  }
  const says = count === 0 ? "it holds no ClusterInformation yet; the server will make it" : "it is initialised";
  const problems = datastore.problems?.() ?? [];
  const findings = problems
    .slice(0, mostManifestProblems)
    .map((found) => problem("MANIFEST_PROBLEM", manifestProblemText(found)));
  if (problems.length > mostManifestProblems)
    findings.push(problem("MANIFEST_PROBLEM", `and ${problems.length - mostManifestProblems} more`));
  return { name: "datastore", findings: [passed(`the datastore answers; ${says}`), ...findings] };
}

function unreachable(error: unknown, { flavour }: Datastore): Finding {
  // Kubernetes is where most clusters keep their objects, and etcd is what the original takes where nothing is said.
  const fix =
    flavour === "kubernetes"
      ? "kubectl get --raw /readyz"
      : "etcdctl --endpoints … endpoint health; or TYPHA_DATASTORETYPE=kubernetes, if that is where the objects are";
  if (isDatastoreError(error, "unauthorized")) return problem("DATASTORE_REFUSED", error.message);
  if (isDatastoreError(error, "forbidden")) {
    const rule = error.missingRule === undefined ? {} : { fix: `add this rule:\n${error.missingRule}` };
    return problem("DATASTORE_REFUSED", error.message, rule);
  }
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return problem("DATASTORE_UNREACHABLE", `no answer within ${patienceMs / 1000} s`, { fix });
  }
  return problem("DATASTORE_UNREACHABLE", messageOf(error), { fix });
}
