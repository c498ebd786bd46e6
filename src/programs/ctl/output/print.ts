// Prints what get has found, in the format that was asked for.
import type { ApiKind, V3Object } from "../../../calico/resources/index.ts";
import type { Console } from "../console.ts";
import { CtlError } from "../console.ts";
import type { OutputFormat } from "./output-format.ts";

/** One for each name or document that was asked for and found; all objects of a kind are one result. */
export type Result =
  | { readonly is: "object"; readonly object: V3Object }
  | {
      readonly is: "list";
      readonly kind: ApiKind;
      readonly items: readonly V3Object[];
      readonly resourceVersion: string;
    };

export type PrintOptions = {
  /** With -n or -A tables of namespaced kinds begin with NAMESPACE. */
  readonly showsNamespace: boolean;
  /** The AS number of nodes without one of their own; undefined: it could not be read. Asked only where a cell shows it. */
  readonly defaultAsNumber: () => Promise<number | undefined>;
};

/** Throws CtlError: an unknown heading, a template that cannot be used. */
export async function print(
  _results: readonly Result[],
  _format: OutputFormat,
  _options: PrintOptions & { readonly console: Pick<Console, "out"> },
): Promise<void> {
  throw new CtlError("nothing can be printed yet");
}
