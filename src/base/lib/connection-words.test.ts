import { equal } from "node:assert/strict";
import { test } from "node:test";
import { connectionWords } from "./connection-words.ts";

const openssl =
  "40A3C5AFFF7E0000:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../deps/a.c:78:\n";
const cases: { name: string; error: unknown; words: string }[] = [
  {
    name: "a port without TLS",
    error: Object.assign(new Error(openssl), { code: "ERR_SSL_WRONG_VERSION_NUMBER", reason: "wrong version number" }),
    words:
      "what answers there does not speak TLS: another port, or a server without TLS (ERR_SSL_WRONG_VERSION_NUMBER)",
  },
  {
    name: "another CA",
    error: Object.assign(new Error("unable to verify the first certificate"), {
      code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    }),
    words: "its certificate was not issued by a CA in our CA file (UNABLE_TO_VERIFY_LEAF_SIGNATURE)",
  },
  {
    name: "a failure of TLS that has no words of ours",
    error: Object.assign(new Error(openssl), { code: "ERR_SSL_BAD_ECPOINT", reason: "bad ecpoint" }),
    words: "TLS failed: bad ecpoint (ERR_SSL_BAD_ECPOINT)",
  },
  { name: "any other error", error: new Error("its certificate is not ours"), words: "its certificate is not ours" },
  { name: "what is no error", error: "gone", words: "gone" },
];
for (const { name, error, words } of cases) {
  test(`a connection that failed because of ${name}`, () => equal(connectionWords(error), words));
}
