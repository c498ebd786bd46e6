import { equal } from "node:assert/strict";
import { test } from "node:test";
import { suggestion } from "./suggest.ts";

const known = ["ippool", "ippools", "node", "nodes", "networkpolicy", "globalnetworkpolicies", "get", "pols"];
const cases: { typed: string; meant: string }[] = [
  { typed: "ipools", meant: "ippools" },
  { typed: "IPPolo", meant: "ippool" },
  { typed: "netwrokpolicy", meant: "networkpolicy" },
  { typed: "globalnetworkpolices", meant: "globalnetworkpolicies" },
  { typed: "gett", meant: "get" },
  { typed: "services", meant: "" },
  { typed: "frobnicate", meant: "" },
  { typed: "no", meant: "" },
  { typed: "", meant: "" },
];
for (const { typed, meant } of cases)
  test(`"${typed}" ${meant === "" ? "is no slip" : `probably means ${meant}`}`, () =>
    equal(suggestion(typed, known), meant === "" ? "" : `\nDid you mean ${meant}?`));
