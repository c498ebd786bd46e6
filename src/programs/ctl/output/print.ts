// Prints what get has found, in the format that was asked for. Formats that few ask for are loaded when they are.
import { readFile } from "node:fs/promises";
import { type Column, columnsOf, type Kind, kindInfo } from "../../../calico/kinds/index.ts";
import { v3Version } from "../../../calico/resources/index.ts";
import type { Console } from "../console.ts";
import { CtlError } from "../console.ts";
import { goWords } from "../file-error.ts";
import type { OutputFormat } from "./output-format.ts";
import { kindOf, objectsOf, type Result } from "./result.ts";
import { table } from "./table.ts";

export type { Result } from "./result.ts";

export type PrintOptions = {
  /** With -n or -A tables of namespaced kinds begin with NAMESPACE. */
  readonly showsNamespace: boolean;
  /** The AS number of nodes without one of their own; undefined: it could not be read. Asked only where a cell shows it. */
  readonly defaultAsNumber: () => Promise<number | undefined>;
  readonly console: Pick<Console, "out">;
};

/** Throws CtlError: an unknown heading, a template that cannot be used. */
export async function print(results: readonly Result[], format: OutputFormat, options: PrintOptions): Promise<void> {
  const { out } = options.console;
  switch (format.is) {
    case "table":
      for (const result of results) await printTable(result, columnsFor(kindOf(result), format.form, options), options);
      return;
    case "custom-columns":
      for (const result of results) await printTable(result, namedColumns(kindOf(result), format.headings), options);
      return;
    case "name":
      for (const result of results) out(names(result, options.showsNamespace));
      return;
    case "json": {
      const { writeJsonTo } = await import("./write-json.ts");
      writeJsonTo(results, out);
      return;
    }
    case "yaml": {
      const { writeYamlTo } = await import("../yaml/write-yaml.ts");
      writeYamlTo(asJson(results), out);
      return;
    }
    case "go-template":
      return await printTemplate(format.template, results, options);
    case "go-template-file":
      return await printTemplate(await readTemplate(format.file), results, options);
  }
}

function columnsFor(kind: Kind, form: "ps" | "wide", { showsNamespace }: PrintOptions): readonly Column[] {
  const columns = columnsOf(kind, form);
  if (!showsNamespace || !kindInfo(kind).namespaced) return columns;
  return [...columnsOf(kind, "all").filter(({ heading }) => heading === "NAMESPACE"), ...columns];
}

function namedColumns(kind: Kind, headings: readonly string[]): readonly Column[] {
  const known = columnsOf(kind, "all");
  return headings.map((wanted) => {
    const column = known.find(({ heading }) => heading === wanted);
    if (column !== undefined) return column;
    const valid = known.map(({ heading }) => heading).join(", ");
    throw new CtlError(`unknown heading ${wanted}, valid values are: ${valid}`);
  });
}

async function printTable(result: Result, columns: readonly Column[], options: PrintOptions): Promise<void> {
  const objects = objectsOf(result);
  // A request of its own: made only where a node's cell would show it.
  const showsDefault =
    kindOf(result) === "Node" &&
    columns.some(({ heading }) => heading === "ASN") &&
    objects.some(({ spec: { bgp } }) => bgp !== undefined && !Object.hasOwn(bgp as object, "asNumber"));
  const defaultAsNumber = showsDefault ? await options.defaultAsNumber() : undefined;
  options.console.out(table(columns, objects, { defaultAsNumber }));
}

async function printTemplate(template: string, results: readonly Result[], options: PrintOptions): Promise<void> {
  const { asksForConfig, runTemplate } = await import("./template/run-template.ts");
  const asNumber = asksForConfig(template) ? await options.defaultAsNumber() : undefined;
  options.console.out(runTemplate(template, results, asNumber));
}

async function readTemplate(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CtlError(`open ${file}: ${goWords(error)}`, { cause: error });
  }
}

/** KIND/NAME, to be read by programs; with the namespace where tables show it. */
function names(result: Result, showsNamespace: boolean): string {
  const lines = objectsOf(result).map(({ kind, metadata: { name = "", namespace = "" } }) => {
    return [kind.toLowerCase(), ...(showsNamespace && namespace !== "" ? [namespace] : []), name].join("/");
  });
  return lines.map((line) => `${line}\n`).join("");
}

/** One result as it is, several as an array, none as null. */
function asJson(results: readonly Result[]): unknown {
  const values = results.map((result) => {
    if (result.is === "object") return result.object;
    const { kind, items, resourceVersion } = result;
    const metadata = resourceVersion === "" ? {} : { resourceVersion };
    return { apiVersion: v3Version, items, kind: `${kind}List`, metadata };
  });
  return values.length > 1 ? values : (values[0] ?? null);
}
