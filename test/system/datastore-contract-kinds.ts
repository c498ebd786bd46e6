// The contract's cases about kinds that Kubernetes has others for: etcd and a folder hold them, an API server does not.
import { deepEqual, equal, rejects } from "node:assert/strict";
import type { Kind } from "../../src/calico/kinds/index.ts";
import {
  type Case,
  eventText,
  idOf,
  idText,
  itemsOf,
  revisionOf,
  signal,
  specOf,
  take,
} from "./datastore-contract-kit.ts";
import type { Opened, TestObject } from "./datastore-contract-subjects.ts";

const objects: { kind: Kind; namespace: string; name: string; specs: [object, object] }[] = [
  {
    kind: "Profile",
    namespace: "",
    name: "web",
    specs: [{ labelsToApply: { role: "web" } }, { labelsToApply: { role: "db" } }],
  },
  {
    kind: "WorkloadEndpoint",
    namespace: "default",
    name: "n1-cni-c1-eth0",
    specs: [
      { orchestrator: "cni", node: "n1", containerID: "c1", endpoint: "eth0", ipNetworks: ["10.0.0.1/32"] },
      { orchestrator: "cni", node: "n1", containerID: "c1", endpoint: "eth0", ipNetworks: ["10.0.0.2/32"] },
    ],
  },
  {
    kind: "LiveMigration",
    namespace: "default",
    name: "move",
    specs: [{ target: { selector: "a == 'b'" } }, { target: { selector: "a == 'c'" } }],
  },
];

const isKubernetes = ({ datastore }: Opened) => datastore.flavour === "kubernetes" && datastore.holdsEveryKind !== true;

const held: Case[] = objects.map(({ kind, namespace, name, specs: [first, second] }) => ({
  name: `${kind}: is written, read, listed, watched, changed and deleted; an API server has no such kind`,
  async run(opened) {
    const { datastore, put, remove } = opened;
    const object = (spec: object): TestObject => ({
      metadata: { name, ...(namespace === "" ? {} : { namespace }) },
      spec,
    });
    const id = idOf(name, namespace);
    if (isKubernetes(opened)) {
      await rejects(datastore.get(kind, id), { code: "no-such-kind" });
      await rejects(Array.fromAsync(datastore.list(kind, { signal })), { code: "no-such-kind" });
      await rejects(datastore.create(kind, object(first)), { code: "no-such-kind" });
      return;
    }
    const from = await revisionOf(datastore, kind);
    await put(kind, object(first));
    deepEqual(specOf(await datastore.get(kind, id)), first);
    deepEqual((await itemsOf(datastore, kind)).map(idText), [`${namespace}/${name}`]);
    await put(kind, object(second));
    deepEqual(specOf(await datastore.get(kind, id)), second);
    await remove(kind, id);
    equal(await datastore.get(kind, id), undefined);
    const said = (await take(datastore, kind, from, 3)).map(eventText);
    deepEqual(said, [`set ${namespace}/${name}`, `set ${namespace}/${name}`, `delete ${namespace}/${name}`]);
    await using other = await opened.another();
    deepEqual(await itemsOf(other, kind), []);
  },
}));

const aliases: Case = {
  name: "IPAMConfiguration: another name of IPAMConfig, whoever asks; in etcd two records",
  async run({ datastore, put, remove }) {
    const id = idOf("default");
    const spec = { strictAffinity: true, autoAllocateBlocks: true };
    await put("IPAMConfiguration", { metadata: { name: "default" }, spec });
    deepEqual(specOf(await datastore.get("IPAMConfiguration", id)), spec);
    const isOne = datastore.flavour === "kubernetes";
    deepEqual(specOf(await datastore.get("IPAMConfig", id)), isOne ? spec : undefined);
    deepEqual((await itemsOf(datastore, "IPAMConfig")).length, isOne ? 1 : 0);
    await remove("IPAMConfiguration", id);
    equal(await datastore.get("IPAMConfig", id), undefined);
  },
};

export const kindCases: readonly Case[] = [...held, aliases];
