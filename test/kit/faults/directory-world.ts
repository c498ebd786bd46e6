// A folder of manifests under fault: what editors, careless copies, mounts and half-written files do to it.
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDirectoryDatastore } from "../../../src/calico/datastore/index.ts";
import type { Kind } from "../../../src/calico/kinds/index.ts";
import { type Content, type Fault, type FaultWorld, specText } from "./world.ts";

const kinds = ["Tier", "IPPool"] as const;

export async function openDirectoryWorld(): Promise<FaultWorld> {
  const base = await mkdtemp(join(tmpdir(), "cattail-directory-world-"));
  const path = join(base, "manifests");
  await mkdir(path);
  const datastore = await openDirectoryDatastore({ path, quietMs: 5, pollIntervalMs: 1_000 });
  const fileOf = (kind: Kind, name: string) => join(path, `${kind}-${name}.json`);
  return {
    name: "directory",
    kinds,
    faults: folderFaults(path, base),
    datastore,
    async put(kind, name, serial) {
      const manifest = { apiVersion: "projectcalico.org/v3", kind, metadata: { name }, spec: { serial } };
      const file = fileOf(kind, name);
      await writeFile(`${file}.new`, JSON.stringify(manifest));
      await rename(`${file}.new`, file);
    },
    remove: (kind, name) => rm(fileOf(kind, name), { force: true }),
    // Read by other means than the datastore's: the files are small and all of one form.
    async truth(kind) {
      const content: Content = new Map();
      for (const file of await readdir(path)) {
        if (!file.startsWith(`${kind}-`) || !file.endsWith(".json")) continue;
        const manifest = JSON.parse(await readFile(join(path, file), "utf8"));
        content.set(`/${manifest.metadata.name}`, specText(manifest));
      }
      return content;
    },
    async [Symbol.asyncDispose]() {
      await datastore[Symbol.asyncDispose]();
      await rm(base, { recursive: true });
    },
  };
}

function folderFaults(path: string, base: string): Fault[] {
  return [
    {
      name: "many files change at once",
      strike: ({ random, write }) => write(random.below(40)),
    },
    {
      name: "a file is half written, then whole",
      async strike({ random, write }) {
        const files = (await readdir(path)).filter((file) => file.endsWith(".json"));
        if (files.length === 0) return;
        const file = join(path, random.pick(files));
        const text = await readFile(file, "utf8");
        await writeFile(file, text.slice(0, 1 + random.below(text.length - 1)));
        await write(random.below(5));
        await writeFile(file, text);
      },
    },
    {
      name: "the folder is moved away and comes back",
      async strike({ random, write }) {
        await write(random.below(10));
        await rename(path, join(base, "away"));
        await new Promise((resolve) => setTimeout(resolve, random.below(50)));
        await rename(join(base, "away"), path);
        await write(random.below(10));
      },
    },
    {
      name: "the folder is replaced by a copy of it",
      async strike({ random, write }) {
        // With the datastore's own folder in it, or without, as a copy by hand or by git would be.
        await cp(path, join(base, "copy"), {
          recursive: true,
          filter: (file) => random.isOneIn(2) || !file.endsWith(".cattail"),
        });
        const copy = join(base, "copy");
        await rename(path, join(base, "old"));
        await rename(copy, path);
        await rm(join(base, "old"), { recursive: true });
        await write(random.below(10));
      },
    },
    {
      name: "strangers come and go: hidden files, other kinds, broken files, links in circles",
      async strike({ random, write }) {
        await writeFile(join(path, ".hidden.yaml"), "kind: Tier");
        await writeFile(join(path, "broken.yaml"), "a: [");
        await writeFile(join(path, "other.yaml"), "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n");
        await symlink(path, join(path, "circle"));
        await write(random.below(10));
        for (const name of [".hidden.yaml", "broken.yaml", "other.yaml", "circle"]) await unlink(join(path, name));
      },
    },
  ];
}
