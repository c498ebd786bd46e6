// ctl datastore migrate export: everything in a locked etcd, in three parts between lines of "===":
//
//   a list of each kind as YAML, each with "---" after it      ClusterInformation as JSON      IPAM's records as JSON
import type { V3Object } from "../../../calico/resources/index.ts";
import { writeV3 } from "../../../calico/resources/index.ts";
import type { Run } from "../command.ts";
import type { Connection } from "../connection.ts";
import { CtlError } from "../console.ts";
import { print } from "../output/print.ts";
import { indentJson } from "../output/write-json.ts";
import { type ExportedKind, exportedKinds, kubernetesPolicyPrefix } from "./exported-kinds.ts";
import { readIpamRecords, writeIpamRecords } from "./ipam-records.ts";
import { isLocked } from "./readiness.ts";
import { exported, kubernetesNodeNames, type NodeNames } from "./renamed-nodes.ts";

const separator = "===\n";
const unlocked =
  "datastore is not locked. Run the `calicoctl datastore migrate lock` command in order to begin migration";

export const run: Run = async (invocation, console) => {
  const connection = await invocation.connect();
  const { signal } = console;
  if (!(await isLocked(connection.resources, signal))) throw new CtlError(unlocked);
  if (connection.type !== "etcdv3") {
    const rule = "to export from for datastore migration. Datastore type must be etcdv3";
    throw new CtlError(`invalid datastore type: ${connection.type} ${rule}`);
  }
  // Everything is read before anything is printed: half an export looks like a whole one.
  const lists = await readLists(connection, signal);
  const names = kubernetesNodeNames(lists.get("Node")?.items ?? []);
  const information = await connection.resources.get(
    "ClusterInformation",
    { namespace: "", name: "default" },
    { signal },
  );
  const records = await readIpamRecords(connection.datastore, names, signal);
  const options = { showsNamespace: false, defaultAsNumber: async () => undefined, console };
  for (const kind of exportedKinds) {
    const { items, resourceVersion } = lists.get(kind) ?? { items: [], resourceVersion: "" };
    await print([{ is: "list", kind, items: ready(items, names), resourceVersion }], { is: "yaml" }, options);
    console.out("---\n");
  }
  console.out(separator);
  console.out(`${indentJson(writeV3("ClusterInformation", information))}\n`);
  console.out(separator);
  console.out(`${indentJson(writeIpamRecords(records))}\n`);
  return 0;
};

type List = { readonly items: readonly V3Object[]; readonly resourceVersion: string };

async function readLists({ resources }: Connection, signal: AbortSignal): Promise<ReadonlyMap<ExportedKind, List>> {
  const lists = new Map<ExportedKind, List>();
  for (const kind of exportedKinds) {
    const { items, unreadable, revision } = await resources.list(kind, { signal });
    const [bad] = unreadable;
    if (bad !== undefined) {
      throw new CtlError(`${kind} ${bad.id.name} cannot be read, so that nothing can be exported: ${bad.problem}`);
    }
    lists.set(kind, { items, resourceVersion: revision });
  }
  return lists;
}

function ready(items: readonly V3Object[], names: NodeNames): readonly V3Object[] {
  const isKubernetes = ({ kind, metadata: { name = "" } }: V3Object) =>
    kind === "NetworkPolicy" && name.startsWith(kubernetesPolicyPrefix);
  return items.filter((object) => !isKubernetes(object)).map((object) => exported(object, names));
}
