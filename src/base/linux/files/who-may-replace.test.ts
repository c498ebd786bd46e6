// Folders above a file, of others and of ours.
import { equal, throws } from "node:assert/strict";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { whoMayReplace } from "./who-may-replace.ts";

const base = mkdtempSync(join(tmpdir(), "cattail-who-may-"));
after(() => rmSync(base, { recursive: true, force: true }));
const skip = process.getuid?.() === 0 ? false : "needs root: only root may give folders away";

let count = 0;
function folders(): { upper: string; lower: string; file: string } {
  count += 1;
  const upper = join(base, `${count}`);
  const lower = join(upper, "lower");
  mkdirSync(lower, { recursive: true });
  return { upper, lower, file: join(lower, "socket") };
}

test("ours, below the folder of everybody that is sticky", () => equal(whoMayReplace(folders().file), undefined));

test("the folder, or one above it, is somebody else's", { skip }, () => {
  const { upper, lower, file } = folders();
  chownSync(upper, 12_345, 0);
  equal(whoMayReplace(file), `${upper} belongs to user 12345`);
  chownSync(lower, 12_346, 0);
  equal(whoMayReplace(file), `${lower} belongs to user 12346`);
});

test("everybody, or a group, may write to one above it", { skip }, () => {
  const { upper, file } = folders();
  chmodSync(upper, 0o777);
  equal(whoMayReplace(file), `everybody may write to ${upper}`);
  chmodSync(upper, 0o1777);
  equal(whoMayReplace(file), undefined);
  chmodSync(upper, 0o775);
  equal(whoMayReplace(file), undefined);
  chownSync(upper, 0, 12_345);
  chmodSync(upper, 0o775); // giving it away may take bits
  equal(whoMayReplace(file), `group 12345 may write to ${upper}`);
});

test("a link leads below somebody else's, or is below it", { skip }, () => {
  const [good, bad] = [folders(), folders()];
  chownSync(bad.upper, 12_345, 0);
  const [toBad, toGood] = [join(good.upper, "link"), join(bad.upper, "link")];
  symlinkSync(bad.lower, toBad);
  symlinkSync(good.lower, toGood);
  for (const link of [toBad, toGood]) equal(whoMayReplace(join(link, "socket")), `${bad.upper} belongs to user 12345`);
});

test("no folder", () => throws(() => whoMayReplace(join(base, "nowhere", "socket")), { code: "ENOENT" }));
