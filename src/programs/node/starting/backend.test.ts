import { equal } from "node:assert/strict";
import { test } from "node:test";
import { backendSaid } from "./backend.ts";

const rows: [ancient: string | undefined, backend: string | undefined, is: string | undefined][] = [
  [undefined, undefined, undefined],
  ["", "", undefined],
  [undefined, "vxlan", "vxlan"],
  ["", "None", "None"],
  ["false", "bird", "none"],
  ["true", "vxlan", "bird"],
  ["False", undefined, "bird"],
];
for (const [ancient, backend, is] of rows)
  test(`CALICO_NETWORKING=${ancient} CALICO_NETWORKING_BACKEND=${backend}: ${is}`, () =>
    equal(backendSaid({ CALICO_NETWORKING: ancient, CALICO_NETWORKING_BACKEND: backend }), is));
