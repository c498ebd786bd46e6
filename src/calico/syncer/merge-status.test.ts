import { equal } from "node:assert/strict";
import { test } from "node:test";
import { type SyncStatus, syncStatus } from "../model/index.ts";
import { mergeStatus } from "./merge-status.ts";

const { waitForDatastore: wait, resyncInProgress: resync, inSync } = syncStatus;
const cases: { name: string; kinds: SyncStatus[]; merged: SyncStatus }[] = [
  { name: "all in sync", kinds: [inSync, inSync], merged: inSync },
  { name: "all waiting", kinds: [wait, wait], merged: wait },
  { name: "one resyncing takes all along", kinds: [inSync, resync, inSync], merged: resync },
  { name: "one waiting among others is a resync", kinds: [inSync, wait], merged: resync },
];
for (const { name, kinds, merged } of cases) test(`status: ${name}`, () => equal(mergeStatus(kinds), merged));
