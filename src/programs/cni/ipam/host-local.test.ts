import { equal, match } from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { upgradeFromHostLocal } from "./host-local.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-host-local-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("a node that has never had host-local has nothing to move", () => {
  const { text, exitCode } = upgradeFromHostLocal(join(folder, "none"));
  equal(exitCode, 0);
  match(text, /nothing to move/);
});

test("a lock and the last address are no addresses", () => {
  const left = join(folder, "left");
  mkdirSync(left);
  for (const name of ["lock", "last_reserved_ip.0"]) writeFileSync(join(left, name), "");
  equal(upgradeFromHostLocal(left).exitCode, 0);
});

test("addresses that pods still have are not passed over", () => {
  const held = join(folder, "held");
  mkdirSync(held);
  for (const name of ["lock", "10.244.1.9", "10.244.1.4"]) writeFileSync(join(held, name), "");
  const { text, exitCode } = upgradeFromHostLocal(held);
  equal(exitCode, 1);
  match(text, /\(2: 10\.244\.1\.4, 10\.244\.1\.9\).*calico-ipam -upgrade of calico\/cni/);
});
