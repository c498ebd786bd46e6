// A service account as it is named on the command line.
import { InvalidArgumentError } from "commander";
import type { Account } from "../../calico/datastore/index.ts";

export function accountOf(text: string): Account {
  const [namespace = "", name = "", ...rest] = text.split("/");
  const isName = (part: string) => /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(part);
  if (!isName(namespace) || !isName(name) || rest.length > 0)
    throw new InvalidArgumentError("It has to be NAMESPACE/NAME, such as kube-system/calico-typha.");
  return { namespace, name };
}
