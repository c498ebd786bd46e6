import { equal, rejects, throws } from "node:assert/strict";
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { namedPipe } from "../../../../test/kit/pipes.ts";
import { readPemFile, readPemSource } from "./read-pem.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-pem-"));
after(() => rmSync(folder, { recursive: true }));
const plain = join(folder, "plain.crt");
writeFileSync(plain, "-----BEGIN");
const link = join(folder, "link.crt");
symlinkSync(plain, link);
const huge = join(folder, "huge.crt");
writeFileSync(huge, "");
truncateSync(huge, 1 << 30);

const refused: { name: string; path: string; saying: RegExp }[] = [
  { name: "a file that is not there", path: join(folder, "none"), saying: /none cannot be read \(ENOENT\)/ },
  { name: "a folder", path: folder, saying: /it is a folder, not a file/ },
  { name: "a device that never ends", path: "/dev/zero", saying: /it is a device, not a file/ },
  { name: "a file of a gigabyte", path: huge, saying: /larger than 1048576 bytes/ },
];
for (const { name, path, saying } of refused) {
  test(`PEM: ${name} is refused at once`, async () => {
    throws(() => readPemFile(path), saying);
    await rejects(readPemSource(path), saying);
  });
}

for (const [name, path] of [
  ["a file", plain],
  ["a link to a file, as in a mounted Secret", link],
] as const) {
  test(`PEM: ${name} is read`, async () => {
    equal(readPemFile(path), "-----BEGIN");
    equal(await readPemSource(path), "-----BEGIN");
  });
}

test("PEM: a pipe holds up nobody where a file is wanted, and is read to its end where a shell may hand one over", async (context) => {
  using pipe = namedPipe();
  if (pipe === undefined) return context.skip("mkfifo is not installed");
  throws(() => readPemFile(pipe.path), /it is a pipe, not a file/);
  const read = readPemSource(pipe.path);
  const writer = openSync(pipe.path, constants.O_WRONLY | constants.O_NONBLOCK);
  writeSync(writer, "first ");
  await new Promise((resolve) => setImmediate(resolve));
  writeSync(writer, "second");
  closeSync(writer);
  equal(await read, "first second");
});
