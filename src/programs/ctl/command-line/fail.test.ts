import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import { recordedConsole } from "../../../../test/kit/recorded-console.ts";
import { ResourceError } from "../../../calico/resources/index.ts";
import { CtlError } from "../console.ts";
import { sayFailure } from "./fail.ts";

function said(thrown: unknown, isAdviceRead = false): { out: string; err: string } {
  const { console, said } = recordedConsole();
  sayFailure(thrown, { console, isAdviceRead });
  return said();
}

const rule = '- apiGroups: ["crd.projectcalico.org"]\n  resources: ["ippools"]\n  verbs: ["get", "list", "watch"]\n';
const forbidden = new ResourceError("unauthorized", "connection is unauthorized: no", { missingRule: rule });
const noKind = new ResourceError("no-such-kind", "resource does not exist: IPPool(p)", { next: "install the CRDs" });

const cases: { name: string; thrown: unknown; isAdviceRead?: true; out?: string; err?: string }[] = [
  { name: "a text, once, alone", thrown: new CtlError("no such thing"), err: "no such thing\n" },
  { name: "a text that ends its line itself", thrown: new CtlError("a\n\n"), err: "a\n\n" },
  {
    name: "one of the four that stand on standard output",
    thrown: new CtlError("Error reading config file: x", { stream: "stdout" }),
    out: "Error reading config file: x\n",
  },
  { name: "missing rights, for a script", thrown: forbidden, err: "connection is unauthorized: no\n" },
  {
    name: "missing rights, for a person",
    thrown: forbidden,
    isAdviceRead: true,
    err: `connection is unauthorized: no\nAdd this rule to a role of this user:\n${rule}`,
  },
  {
    name: "missing rights of several objects, the same rule once",
    thrown: new CtlError("hit error: [no no]", { cause: [forbidden, new CtlError("x", { cause: forbidden })] }),
    isAdviceRead: true,
    err: `hit error: [no no]\nAdd this rule to a role of this user:\n${rule}`,
  },
  {
    name: "missing CRDs, for anybody",
    thrown: new CtlError("failed to apply", { cause: noKind }),
    err: "failed to apply\nInstall the CRDs.\n",
  },
];
for (const { name, thrown, isAdviceRead = false, out = "", err = "" } of cases)
  test(`said of a failure: ${name}`, () => deepEqual(said(thrown, isAdviceRead), { out, err }));

test("an error that nobody foresaw is said with its stack", () =>
  match(said(new TypeError("x is not a function")).err, /^unexpected error: TypeError: x is not a function\n {4}at /));

test("causes that go round in a circle end", () => {
  const one = new CtlError("one");
  one.cause = [one, one];
  deepEqual(said(one, true), { out: "", err: "one\n" });
});
