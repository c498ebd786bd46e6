// Whether a program of iptables has to be started at all to look for chains of the original.
import { equal } from "node:assert/strict";
import { test } from "node:test";
import type { NftTable } from "../../../base/linux/kernel.ts";
import { mayHaveChains } from "./original.ts";

const filter: NftTable = { family: "ip", name: "filter" };
const cases: readonly {
  readonly name: string;
  readonly backend: Parameters<typeof mayHaveChains>[0];
  readonly tables?: readonly NftTable[];
  readonly legacy?: string;
  readonly may: boolean;
}[] = [
  { name: "no tables", backend: "iptables-nft", may: false },
  { name: "a table of iptables", backend: "iptables-nft", tables: [filter], may: true },
  { name: "a table of the other family", backend: "ip6tables-nft", tables: [filter], may: false },
  { name: "a table of nft alone", backend: "iptables-nft", tables: [{ family: "ip", name: "kube-proxy" }], may: false },
  { name: "the older kind is not there, or has no tables", backend: "iptables-legacy", legacy: "", may: false },
  { name: "the older kind has tables", backend: "ip6tables-legacy", legacy: "nat\nfilter\n", may: true },
  { name: "the older kind cannot be seen", backend: "iptables-legacy", may: true },
];
for (const { name, backend, tables = [], legacy, may } of cases)
  test(`${backend} ${may ? "is" : "is not"} asked: ${name}`, () => equal(mayHaveChains(backend, tables, legacy), may));
