// Policies that were stored with their tier before their name are stored under their name, on every datastore that can hold such ones.
import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { createMemoryDatastore } from "../datastore/index.ts";
import { migratePolicyNames } from "./migrate-policy-names.ts";
import { openResources } from "./open-resources.ts";

const spec = (selector: string) => ({ selector, types: ["Ingress"] });
/** Releases of that time wrote their names without the tier into an annotation, or none. */
const kept = (name: string) => ({ "projectcalico.org/metadata": name === "default.web" ? '{"name":"web"}' : "{}" });

for (const flavour of ["kubernetes", "etcdv3"] as const) {
  const open = async (...objects: [kind: "NetworkPolicy" | "GlobalNetworkPolicy", name: string, spec: object][]) => {
    const datastore = createMemoryDatastore({ flavour });
    for (const [kind, name, said] of objects) {
      const namespace = kind === "NetworkPolicy" ? { namespace: "shop" } : {};
      const annotations =
        name.startsWith("default.") && (flavour === "kubernetes" || name === "default.web")
          ? { annotations: kept(name) }
          : {};
      const type = flavour === "kubernetes" ? { apiVersion: "crd.projectcalico.org/v1", kind } : {};
      await datastore.create(kind, { ...type, metadata: { name, ...namespace, ...annotations }, spec: said });
    }
    return datastore;
  };
  const namesOf = async (
    datastore: Awaited<ReturnType<typeof open>>,
    kind: "NetworkPolicy" | "GlobalNetworkPolicy",
  ) => {
    const pages = await Array.fromAsync(datastore.list(kind, { signal: AbortSignal.timeout(5000) }));
    return pages.flatMap(({ items }) => items.map(({ id }) => id.name));
  };

  test(`${flavour}: names that carry the default tier lose it; others stay`, async () => {
    const tier = { tier: "default" };
    const datastore = await open(
      ["NetworkPolicy", "default.web", { ...spec("a == 'b'"), ...tier }],
      ["NetworkPolicy", "plain", { ...spec("all()"), ...tier }],
      ["GlobalNetworkPolicy", "default.all", spec("all()")],
      ["GlobalNetworkPolicy", "shop.web", { ...spec("all()"), tier: "shop" }],
    );
    deepEqual(await migratePolicyNames(datastore), { migrated: 2, unreadable: [] });
    deepEqual(await namesOf(datastore, "NetworkPolicy"), ["plain", "web"]);
    deepEqual(await namesOf(datastore, "GlobalNetworkPolicy"), ["all", "shop.web"]);
    const read = await openResources(datastore).get("NetworkPolicy", { namespace: "shop", name: "web" });
    equal(read.spec.selector, "a == 'b'");
    deepEqual(await migratePolicyNames(datastore), { migrated: 0, unreadable: [] });
  });

  test(`${flavour}: what a run that was stopped has copied is recognised`, async () => {
    const datastore = await open(
      ["GlobalNetworkPolicy", "default.all", spec("all()")],
      ["GlobalNetworkPolicy", "all", spec("all()")],
    );
    deepEqual((await migratePolicyNames(datastore)).migrated, 1);
    deepEqual(await namesOf(datastore, "GlobalNetworkPolicy"), ["all"]);
  });

  test(`${flavour}: of two policies that say different things none is deleted`, async () => {
    const datastore = await open(
      ["GlobalNetworkPolicy", "default.all", spec("a == 'old'")],
      ["GlobalNetworkPolicy", "all", spec("a == 'new'")],
    );
    await rejects(migratePolicyNames(datastore), {
      code: "conflict",
      message:
        "GlobalNetworkPolicy(default.all) cannot be renamed: GlobalNetworkPolicy(all) exists and says something else",
    });
    deepEqual(await namesOf(datastore, "GlobalNetworkPolicy"), ["all", "default.all"]);
  });

  test(`${flavour}: what cannot be read is named and left`, async () => {
    const datastore = await open(["GlobalNetworkPolicy", "default.all", { selector: 7 }]);
    const { migrated, unreadable } = await migratePolicyNames(datastore);
    deepEqual([migrated, unreadable.map(({ object }) => object)], [0, ["GlobalNetworkPolicy(default.all)"]]);
  });
}
