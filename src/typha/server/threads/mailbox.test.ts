import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Mailbox } from "./mailbox.ts";

test("what is said in one turn of the loop is handed over once, in order; the next turn's apart", async () => {
  const handedOver: string[][] = [];
  const mailbox = new Mailbox<string>((messages) => handedOver.push(messages));
  mailbox.post("a");
  mailbox.post("b");
  deepEqual(handedOver, []);
  await nextTurn();
  mailbox.post("c");
  await nextTurn();
  deepEqual(handedOver, [["a", "b"], ["c"]]);
});

test("last words are handed over at once, and not again", async () => {
  const handedOver: string[][] = [];
  const mailbox = new Mailbox<string>((messages) => handedOver.push(messages));
  mailbox.post("a");
  mailbox.flush();
  deepEqual(handedOver, [["a"]]);
  await nextTurn();
  deepEqual(handedOver, [["a"]]);
});
