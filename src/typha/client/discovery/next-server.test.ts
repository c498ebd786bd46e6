import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { Attempts } from "./next-server.ts";

const [a, b, c] = ["a", "b", "c"].map((host) => ({ host, port: 5473 })) as [Host, Host, Host]; // three were given
type Host = { host: string; port: number };

test("every server is tried once before the first is tried again", () => {
  const attempts = new Attempts();
  const tried = Array.from({ length: 4 }, (_, index) => attempts.next([a, b, c], index)?.host);
  deepEqual(tried, ["a", "b", "c", "a"]);
});

test("a server that was gone for more than five minutes is tried as if for the first time", () => {
  const attempts = new Attempts();
  attempts.next([a, b], 0);
  attempts.next([b, c], 1);
  equal(attempts.next([a, b, c], 6 * 60_000)?.host, "c");
  equal(new Attempts().next([a], 0)?.host, "a");
});

test("a server that was gone for less is still remembered", () => {
  const attempts = new Attempts();
  attempts.next([a, b], 0);
  attempts.next([b], 1000);
  equal(attempts.next([a, b, c], 2000)?.host, "c");
});

test("no servers, no attempt", () => equal(new Attempts().next([], 0), undefined));
