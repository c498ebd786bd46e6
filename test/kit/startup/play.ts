// Plays one case of start-up on a machine of its own, and says what is there afterwards.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Cluster, kubeconfigText } from "../cluster.ts";
import type { Facts, Program, StartupCase } from "./case.ts";
import { StartupStage } from "./stage.ts";
import type { StartupStore } from "./store.ts";

const commands: { readonly [program in Program]: readonly string[] } = {
  startup: ["startup"],
  complete: ["startup", "--complete-startup"],
  shutdown: ["shutdown"],
  tunnel: ["allocate-tunnel-addrs", "--run-once"],
  health: ["health"],
};

export type Played = { readonly facts: Facts; readonly output: string };

export async function playStartup(given: StartupCase, of: { cluster: Cluster; store: StartupStore }): Promise<Played> {
  const { cluster, store } = of;
  using stage = new StartupStage();
  await store.clear();
  for (const object of given.objects ?? []) await store.apply(object);
  await stage.prepare(given, cluster.port);
  const before = await store.snapshot();
  const env = environmentOf(given, stage.folder, cluster);
  let output = "";
  let rc: Facts["rc"] = null;
  for (const step of given.steps ?? [{ run: "startup" as const }]) {
    for (const object of step.apply ?? []) await store.apply(object);
    for (const { node, annotations } of step.annotate ?? []) await store.annotate(node, annotations);
    if (step.run === undefined) continue;
    if (given.doorShut !== undefined) stage.shut(given.doorShut);
    const ran = await stage.run(
      [...commands[step.run], ...(step.flags ?? [])],
      env,
      (given.limit ?? 30) * 1000,
      given.hostname,
    );
    rc = ran.code;
    output += ran.output;
  }
  const after = await store.snapshot();
  const isNew = ([name, spec]: [string, unknown]) =>
    JSON.stringify(sorted(before.get(name))) !== JSON.stringify(sorted(spec));
  const objects = Object.fromEntries([...after].filter(isNew));
  const gone = [...before.keys()].filter((name) => !after.has(name)).sort();
  return { facts: { rc, objects, gone, nodes: await store.nodes(), files: stage.files() }, output };
}

function environmentOf(given: StartupCase, folder: string, cluster: Cluster): { readonly [name: string]: string } {
  const file = join(folder, "kubeconfig");
  const pair = { "client-certificate": join(cluster.dir, "admin.crt"), "client-key": join(cluster.dir, "admin.key") };
  const user = { ...pair, ...(given.user === undefined ? {} : { as: given.user }) };
  writeFileSync(file, kubeconfigText({ server: cluster.server, dir: cluster.dir, user }));
  const all = { DATASTORE_TYPE: "kubernetes", KUBECONFIG: file, ...given.env };
  const set = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
  return Object.fromEntries(set);
}

/** The order of fields means nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}
