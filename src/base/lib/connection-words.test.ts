import { equal } from "node:assert/strict";
import { test } from "node:test";
import { type ConnectionFault, connectionFault, connectionWords } from "./connection-words.ts";

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

const faults: { code: string; fault: ConnectionFault }[] = [
  { code: "SELF_SIGNED_CERT_IN_CHAIN", fault: "certificate" },
  { code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE", fault: "certificate" },
  { code: "CERT_HAS_EXPIRED", fault: "certificate" },
  { code: "TLS_PEER_REFUSED", fault: "certificate" },
  { code: "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", fault: "refused" },
  { code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", fault: "refused" },
  { code: "ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE", fault: "refused" },
  { code: "ERR_SSL_WRONG_VERSION_NUMBER", fault: "protocol" },
  { code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", fault: "protocol" },
  { code: "ECONNRESET", fault: "cut" },
  { code: "ECONNREFUSED", fault: "other" },
  { code: "", fault: "other" },
];
for (const { code, fault } of faults) {
  test(`${code === "" ? "an error without a code" : code} is the fault: ${fault}`, () =>
    equal(connectionFault(Object.assign(new Error("x"), code === "" ? {} : { code })), fault));
}
