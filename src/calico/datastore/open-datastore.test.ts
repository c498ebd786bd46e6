import { deepEqual, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { silentLog, systemClock } from "../../base/lib/index.ts";
import { openDatastore } from "./open-datastore.ts";

test("the room's door loads no datastore that nobody has asked for", () => {
  const loaded = loadedBy("src/calico/datastore/index.ts");
  ok(loaded.has("src/calico/datastore/edit.ts"));
  const costly = /datastore\/(etcd|kubernetes|directory)\/|base\/(kube|grpc|linux)\/|^yaml$/;
  deepEqual(
    [...loaded].filter((file) => costly.test(file)),
    [],
  );
});

test("what is asked for is opened", async () => {
  await using datastore = await openDatastore(
    { type: "memory", flavour: "etcdv3" },
    { clock: systemClock, log: silentLog },
  );
  deepEqual(datastore.flavour, "etcdv3");
});

/** Files and packages that are loaded with a file, whatever is called in it. Types are erased, and load nothing. */
function loadedBy(file: string, loaded = new Set<string>()): Set<string> {
  if (loaded.has(file)) return loaded;
  loaded.add(file);
  const text = readFileSync(file, "utf8");
  for (const [, names = "", from = ""] of text.matchAll(/^(?:import|export) ([^;]*?)from "([^"]+)";/gms)) {
    const isType = names.startsWith("type ") || /^\{(\s*type [^,}]+,?)+\s*\} $/.test(names);
    if (isType) continue;
    if (from.startsWith(".")) loadedBy(normalize(join(dirname(file), from)), loaded);
    else loaded.add(from);
  }
  return loaded;
}
