// Addresses as notifications tell of them, one by one.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Address, Link } from "../../../base/linux/kernel.ts";
import { LinkView } from "./link-view.ts";

const eth0 = { index: 2, name: "eth0", isUp: true } as Link; // what is asked for here
const own = (address: string): Address => ({ index: 2, address }) as Address;

test("an address whose mask is changed stays: the new one comes before the old one goes", () => {
  const view = new LinkView();
  const has = () => [view.withAddress("172.31.0.13")?.name, view.addressesOf(2)];
  view.load([eth0], [own("172.31.0.13/30")], 0);
  view.setAddress(own("172.31.0.13/24"));
  view.deleteAddress(own("172.31.0.13/30"));
  deepEqual(has(), ["eth0", ["172.31.0.13"]]);
  view.deleteAddress(own("172.31.0.13/24"));
  deepEqual(has(), [undefined, []]);
});
