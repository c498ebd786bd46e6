import { equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { namespaceName, objectName, serviceName } from "./option-values.ts";

const long = (letters: number) => "a".repeat(letters);
const kinds = {
  namespace: { read: namespaceName, good: ["kube-system", "1a", long(63)], bad: ["a.b", long(64)] },
  service: { read: serviceName, good: ["calico-typha", long(63)], bad: ["1a", "a.b", long(64)] },
  object: {
    read: objectName,
    good: ["calico-typha-certs", "1a", "a.b-c.d", long(253)],
    bad: ["a..b", ".a", "a.-b", long(254)],
  },
};
const neverGood = ["", "Bad Name", "Bad", "a_b", "-a", "a-", "a b", "a\n", "ä", "a/b", "a: b"];

for (const [kind, { read, good, bad }] of Object.entries(kinds)) {
  for (const name of good) test(`a name of a ${kind}: ${name}`, () => equal(read(name), name));
  for (const name of [...bad, ...neverGood]) {
    test(`no name of a ${kind}: ${JSON.stringify(name)}`, () => void throws(() => read(name), /has to be a name/));
  }
}
