// AS numbers as Go reads them (numorstring): plain or dotted, leading zeros and all.
import { equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../base/lib/index.ts";
import type { V3Object } from "../../calico/resources/index.ts";
import { newAsNumber } from "./as-number.ts";
import { readNodeSettings } from "./settings/read.ts";

const numbers: readonly { readonly text: string; readonly number: number | undefined }[] = [
  { text: "65001", number: 65001 },
  { text: "00000000065001", number: 65001 },
  { text: "4294967295", number: 4294967295 },
  { text: "1.10", number: 65546 },
  { text: "0001.000010", number: 65546 },
  { text: "65535.65535", number: 4294967295 },
  { text: "4294967296", number: undefined },
  { text: "65536.1", number: undefined },
  { text: "1.", number: undefined },
  { text: "1.2.3", number: undefined },
  { text: "+1", number: undefined },
  { text: " 1", number: undefined },
  { text: "0x10", number: undefined },
];
const node: V3Object = { kind: "Node", apiVersion: "projectcalico.org/v3", metadata: { name: "n1" }, spec: {} };
for (const { text, number } of numbers)
  test(`AS=${text}: ${number ?? "refused"}`, () => {
    const read = () => newAsNumber(node, readNodeSettings({ AS: text }).values, silentLog);
    if (number === undefined) throws(read, { says: /is not valid/ });
    else equal(read(), number);
  });
