// What holds for every history of outcomes. The histories themselves, with their times, are traces in follow.test.ts.
import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type SyncStatus, syncStatus } from "../../model/index.ts";
import type { Revision } from "../datastore.ts";
import { DatastoreError, datastoreErrorCodes } from "../errors.ts";
import type { FollowEvent } from "./follow-event.ts";
import { type FollowInput, followLimits, notStarted, step } from "./follow-machine.ts";

const event: FollowEvent = { is: "delete", id: { namespace: "", name: "a" } };
const events = fc.array(fc.constant(event), { maxLength: 2 });
const revision = fc.constantFrom("1" as Revision, "2" as Revision);
const failed = fc
  .record({ code: fc.constantFrom(...datastoreErrorCodes), status: fc.constantFrom(undefined, 500) })
  .map(({ code, status }): FollowInput => {
    return { is: "failed", error: new DatastoreError(code, "x", status === undefined ? {} : { status }) };
  });
const ofList: fc.Arbitrary<FollowInput> = fc.oneof(
  fc.record({ is: fc.constant("page" as const), events }),
  fc.record({
    is: fc.constant("listed" as const),
    deletions: events,
    revision: fc.option(revision, { nil: undefined }),
  }),
  failed,
);
const ofWatch: fc.Arbitrary<FollowInput> = fc.oneof(
  fc.record({ is: fc.constant("heard" as const), events, revision }),
  fc.record({ is: fc.constant("closed" as const), isHeard: fc.boolean() }),
  fc.constant({ is: "silent" } as const),
  failed,
);
const attempt = fc.record({
  list: ofList,
  watch: ofWatch,
  passesMs: fc.constantFrom(0, 1000, followLimits.contactLostMs + 1),
});

const rule = "nothing is announced while waiting, and each status is another than the one before";
for (const whenForbidden of ["empty", "not ready"] as const) {
  test(`whatever happens to a kind that is ${whenForbidden} when forbidden, ${rule}`, () => {
    fc.assert(
      fc.property(fc.array(attempt, { maxLength: 40 }), (attempts) => {
        let machine = notStarted;
        let status: SyncStatus = syncStatus.waitForDatastore;
        let nowMs = 0;
        for (const { list, watch, passesMs } of attempts) {
          nowMs += passesMs;
          for (const input of [{ is: "opens" } as const, machine.phase.at === "list" ? list : watch]) {
            const taken = step(machine, input, { limits: followLimits, whenForbidden, nowMs });
            machine = taken.machine;
            for (const said of taken.says) {
              if (said.is !== "status") ok(status !== syncStatus.waitForDatastore, "said while waiting");
              else {
                ok(said.status !== status, "said twice");
                status = said.status;
              }
            }
            equal(machine.status, status);
          }
        }
      }),
    );
  });
}

test("only a list that is complete, or one that can never be, makes a kind in sync", () => {
  for (const code of datastoreErrorCodes) {
    const input: FollowInput = { is: "failed", error: new DatastoreError(code, "x") };
    const context = { limits: followLimits, whenForbidden: "not ready", nowMs: 0 } as const;
    const { machine } = step(step(notStarted, { is: "opens" }, context).machine, input, context);
    equal(machine.status === syncStatus.inSync, code === "no-such-kind", code);
  }
});
