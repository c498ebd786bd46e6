// A lab is removed with its folder: what is somebody's stays, however the folder was named.
import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeLab } from "./down.ts";
import { prepareFolder, stateFile } from "./state.ts";

const root = mkdtempSync(join(tmpdir(), "cattail-lab-folder-"));
after(() => rmSync(root, { recursive: true, force: true }));

const theirs: { name: string; make: (path: string) => void; says: RegExp }[] = [
  {
    name: "a folder with other files",
    make(path) {
      mkdirSync(path);
      writeFileSync(join(path, "thesis.tex"), "");
    },
    says: /is no lab's: it has "thesis\.tex" in it/,
  },
  { name: "a file", make: (path) => writeFileSync(path, ""), says: /is a file, not a folder/ },
  {
    name: "a link to a folder",
    make(path) {
      mkdirSync(`${path}-target`);
      symlinkSync(`${path}-target`, path);
    },
    says: /is a link, not a folder/,
  },
  {
    name: "a folder that everybody may write to",
    make(path) {
      mkdirSync(path);
      chmodSync(path, 0o777);
    },
    says: /everybody may write to the lab's folder/,
  },
  {
    name: "a state that could only be of something else",
    make(path) {
      mkdirSync(path);
      writeFileSync(stateFile(path), '{"pid": -1}');
    },
    says: /is no lab's: it has "state\.json" in it/,
  },
];
for (const [number, { name, make, says }] of theirs.entries())
  test(`neither started in nor removed: ${name}`, async () => {
    const path = join(root, `theirs-${number}`);
    make(path);
    const content = () => (lstatSync(path).isDirectory() ? readdirSync(path) : []);
    const before = content();
    throws(() => prepareFolder(path), says);
    await rejects(removeLab(path), says);
    deepEqual(content(), before);
  });

const ours: { name: string; make: (path: string) => void }[] = [
  { name: "a lab that never came up", make: prepareFolder },
  {
    name: "a lab in an empty folder",
    make(path) {
      mkdirSync(path);
      prepareFolder(path);
    },
  },
  {
    name: "what an older release left",
    make(path) {
      mkdirSync(path);
      writeFileSync(stateFile(path), '{"pid": 1, "startTicks": "of another start of the machine", "helpers": []}');
    },
  },
];
for (const [number, { name, make }] of ours.entries())
  test(`removed: ${name}`, async () => {
    const path = join(root, `ours-${number}`);
    make(path);
    deepEqual(await removeLab(path), { wasThere: true });
    equal(existsSync(path), false);
  });

test("there is nothing to remove", async () =>
  deepEqual(await removeLab(join(root, "not-there")), { wasThere: false }));
