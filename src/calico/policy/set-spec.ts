// The sets of addresses that rules ask about, by what makes an address their member. Two spellings of one selector make one
// set: the name of a set is made from the selector's normal form.
import { parseSelector, printSelector, type Selector } from "../model/index.ts";

export type SetSpec =
  /** Every address of the endpoints and network sets that match. */
  | { readonly is: "nets"; readonly id: string; readonly selector: Selector }
  /** Protocol, port and address of each endpoint that matches and has a port of this name. */
  | {
      readonly is: "named port";
      readonly id: string;
      readonly selector: Selector;
      readonly name: string;
      /** Undefined: any that has ports. */
      readonly protocol: number | undefined;
    }
  /** The endpoints of a service: their addresses, or protocol, port and address. */
  | {
      readonly is: "service";
      readonly id: string;
      readonly namespace: string;
      readonly name: string;
      readonly hasPorts: boolean;
    };

/** The selector must be one that parses. */
export function selectorOf(text: string): Selector {
  const parsed = parseSelector(text);
  if (parsed.is === "error") throw new RangeError(`the selector ${JSON.stringify(text)} does not parse: ${parsed.why}`);
  return parsed.selector;
}

export function netsSet(selector: Selector): SetSpec {
  return { is: "nets", id: `nets ${printSelector(selector)}`, selector };
}

export function namedPortSet(name: string, protocol: number | undefined, selector: Selector): SetSpec {
  const id = `port ${name} ${protocol ?? "any"} ${printSelector(selector)}`;
  return { is: "named port", id, selector, name, protocol };
}

export function serviceSet(namespace: string, name: string, options: { readonly hasPorts: boolean }): SetSpec {
  const { hasPorts } = options;
  return {
    is: "service",
    id: `service ${namespace}/${name} ${hasPorts ? "ports" : "addresses"}`,
    namespace,
    name,
    hasPorts,
  };
}
