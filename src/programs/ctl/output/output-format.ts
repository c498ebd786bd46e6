// What -o says.
import { CtlError } from "../console.ts";

export type OutputFormat =
  | { readonly is: "table"; readonly form: "ps" | "wide" }
  | { readonly is: "custom-columns"; readonly headings: readonly string[] }
  | { readonly is: "yaml" | "json" | "name" }
  | { readonly is: "go-template"; readonly template: string }
  | { readonly is: "go-template-file"; readonly file: string };

/** Throws CtlError for what is no format; asked before the datastore is. */
export function readOutputFormat(text: string): OutputFormat {
  switch (text) {
    case "ps":
    case "wide":
      return { is: "table", form: text };
    case "yaml":
    case "yml":
      return { is: "yaml" };
    case "json":
    case "name":
      return { is: text };
  }
  const at = text.indexOf("=");
  const name = at < 0 ? text : text.slice(0, at);
  const value = at < 0 ? "" : text.slice(at + 1);
  switch (name) {
    case "custom-columns":
      if (value === "") throw new CtlError("need to specify at least one column");
      return { is: "custom-columns", headings: value.split(",") };
    case "go-template":
      if (value === "") throw new CtlError("need to specify a template");
      return { is: "go-template", template: value };
    case "go-template-file":
      if (value === "") throw new CtlError("need to specify a template file");
      return { is: "go-template-file", file: value };
    default:
      throw new CtlError(`unrecognized output format '${text}'`);
  }
}
