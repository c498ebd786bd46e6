// The words at the end of a verb; the recorded ones are in test/vectors/ctl, these are the rows between them.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { ApiKind } from "../../../../calico/resources/index.ts";
import { type CountedVerb, countedEnding, deleteEnding, type Ending, type Said } from "./messages.ts";

const done = (kind: ApiKind = "IPPool"): Ending => ({ kind, failure: undefined });
const failed = (failure: string, kind: ApiKind = "IPPool"): Ending => ({ kind, failure });

const counted: { name: string; verb: CountedVerb; endings: Ending[]; says: Said }[] = [
  {
    name: "all of one kind are done",
    verb: "create",
    endings: [done(), done()],
    says: { out: "Successfully created 2 'IPPool' resource(s)\n", failure: undefined },
  },
  {
    name: "of several kinds no kind is named",
    verb: "apply",
    endings: [done(), done("Tier")],
    says: { out: "Successfully applied 2 resource(s)\n", failure: undefined },
  },
  {
    name: "the only one fails",
    verb: "validate",
    endings: [failed("bad")],
    says: { out: "", failure: "failed to validate 'IPPool' resource: [bad]" },
  },
  {
    name: "all of several fail",
    verb: "create",
    endings: [failed("bad"), failed("worse")],
    says: { out: "", failure: "failed to create any 'IPPool' resources: [bad worse]" },
  },
  {
    name: "all of several kinds fail",
    verb: "create",
    endings: [failed("bad"), failed("worse", "Tier")],
    says: { out: "", failure: "failed to create any resources: [bad worse]" },
  },
  {
    name: "one of three fails: the first two are said to be done, whichever they are",
    verb: "create",
    endings: [done(), failed("bad"), done()],
    says: {
      out: "Partial success: created the first 2 out of 3 'IPPool' resources:\n",
      failure: "hit error: [bad]",
    },
  },
  {
    name: "one of two fails: nothing is said of the other",
    verb: "apply",
    endings: [done(), failed("bad")],
    says: { out: "", failure: "hit error: [bad]" },
  },
  {
    name: "replace keeps the last error only, and counts all",
    verb: "replace",
    endings: [failed("bad"), done(), failed("worse", "Tier")],
    says: { out: "Partial success: replaced the first 3 out of 3 resources:\n", failure: "hit error: worse" },
  },
  {
    name: "replace does not count what is in no namespace",
    verb: "replace",
    endings: [{ kind: "Tier", failure: "not namespaced", isMisplaced: true }, done()],
    says: { out: "Partial success: replaced the first 1 out of 2 resources:\n", failure: "hit error: not namespaced" },
  },
  {
    name: "replace of nothing but what is in no namespace",
    verb: "replace",
    endings: [1, 2].map(() => ({ kind: "Tier", failure: "not namespaced", isMisplaced: true })),
    says: { out: "", failure: "failed to replace any 'Tier' resources: not namespaced" },
  },
  {
    name: "replace of one object that fails is no partial success",
    verb: "replace",
    endings: [failed("bad")],
    says: { out: "", failure: "failed to replace 'IPPool' resource: bad" },
  },
];
for (const { name, verb, endings, says } of counted) {
  test(`${verb}: ${name}`, () => deepEqual(countedEnding(verb, endings), says));
}

test("delete: what failed has a line each, after what was done", () => {
  deepEqual(deleteEnding([done(), failed("x"), failed("y")]), {
    out: "Successfully deleted 1 'IPPool' resource(s)\n",
    failure: "Failed to delete 'IPPool' resource: x\nFailed to delete 'IPPool' resource: y\n",
  });
});

test("delete: nothing done, several kinds", () => {
  deepEqual(deleteEnding([failed("x"), failed("y", "Tier")]), {
    out: "",
    failure: "Failed to delete resource: x\nFailed to delete resource: y\n",
  });
});
