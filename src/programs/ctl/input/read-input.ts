// What -f names, as v3 objects: a file, a folder, or standard input. Everything is read and checked before anything is
// handed out, because nothing is written unless all of it could be read.
//
//   list-files.ts  which files     split-documents.ts  which texts     read-document.ts  which objects
import { readFile, stat } from "node:fs/promises";
import { readQuickly } from "../../../base/yaml/index.ts";
import type { ApiKind, V3Object } from "../../../calico/resources/index.ts";
import { type Console, CtlError } from "../console.ts";
import { goWords } from "../file-error.ts";
import { listFiles } from "./list-files.ts";
import { DocumentError, type ReadObject, readDocument } from "./read-document.ts";
import { type DocumentText, splitDocuments } from "./split-documents.ts";

export type InputOptions = {
  /** A file, a folder, or "-". */
  readonly filename: string;
  /** -R */
  readonly isRecursive: boolean;
  /** --skip-empty: files without objects are passed over, and no object at all is an answer. */
  readonly skipsEmpty: boolean;
};

export type InputObject = {
  readonly kind: ApiKind;
  /** As its kind's schema reads it. The name may be missing: the write says so. */
  readonly object: V3Object;
  readonly file: string;
  /** FILE:LINE of the object, or of a field of it such as spec.cidr. The text is read again for it: for messages. */
  readonly where: (field?: string) => Promise<string>;
};

/**
 * The input cannot be used. `message` is what ends create, apply, replace, delete and validate; where there is nothing to
 * do (`isEmpty`), get puts "failed to get resources: " in front.
 */
export class InputError extends CtlError {
  readonly isEmpty: boolean;
  constructor(message: string, options: ErrorOptions & { readonly isEmpty: boolean }) {
    super(message, options);
    this.name = "InputError";
    this.isEmpty = options.isEmpty;
  }
}

/** As long as the original takes. */
const mostDocumentCharacters = 10 * 1024 * 1024;

/** More than any cluster has; what is read has to fit into memory. */
const mostInputBytes = 256 * 1024 * 1024;

type Edge = Pick<Console, "isTerminal" | "readStdin">;

/** In the order of the input. No object: only with --skip-empty. Throws InputError. */
export async function readInput(options: InputOptions, console: Edge): Promise<readonly InputObject[]> {
  const { filename, isRecursive, skipsEmpty } = options;
  const files = filename === "-" ? undefined : await listFiles(filename, isRecursive);
  // The original's words do not say where; a person, or whoever has a folder to search, is told.
  const saysWhere = console.isTerminal || files?.is === "folder";
  const objects: InputObject[] = [];
  for (const file of files?.paths ?? [filename]) {
    const found = await readObjects(file, { saysWhere, console });
    if (found.length === 0 && !skipsEmpty) {
      throw new InputError(`no resources specified in file ${file}`, { isEmpty: true });
    }
    objects.push(...found);
  }
  if (objects.length === 0 && !skipsEmpty) {
    throw new InputError(`no resources specified in directory ${filename}`, { isEmpty: true });
  }
  return objects;
}

async function readObjects(
  file: string,
  { saysWhere, console }: { saysWhere: boolean; console: Edge },
): Promise<readonly InputObject[]> {
  const text = file === "-" ? await console.readStdin() : await readText(file);
  const objects: InputObject[] = [];
  for (const document of splitDocuments(text)) {
    const from = { file: file === "-" ? "standard input" : file, document };
    try {
      for (const read of readDocument(await parsed(document, from))) objects.push(inputObject(read, from));
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      throw await refusal(error, { from, saysWhere });
    }
  }
  return objects;
}

async function readText(file: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    const { size } = await stat(file);
    if (size > mostInputBytes) throw failed(`${file} has more than ${mostInputBytes / 1024 / 1024} MiB`);
    bytes = await readFile(file);
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw failed(`open ${file}: ${goWords(error)}`, error);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw failed(`error converting YAML to JSON: yaml: invalid UTF-8 (${file})`, error);
  }
}

type From = { readonly file: string; readonly document: DocumentText };

/** The package is loaded for what is out of the ordinary, and for the line of what is wrong. */
async function parsed({ text }: DocumentText, from: From): Promise<unknown> {
  if (text.length > mostDocumentCharacters) {
    const limit = `a document may have up to ${mostDocumentCharacters / 1024 / 1024} MiB`;
    throw failed(`bufio.Scanner: token too long (${placed(from, 1)}): ${limit}`);
  }
  const quick = readQuickly(text);
  if (quick !== undefined) return quick.value;
  const { readYaml, YamlError } = await import("../yaml/read-yaml.ts");
  try {
    return readYaml(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const { line } = error;
    const where = from.document.line - 1 + line;
    throw failed(`error converting YAML to JSON: yaml: line ${where}: ${error.message} (${placed(from, line)})`, error);
  }
}

function inputObject({ kind, object, path }: ReadObject, from: From): InputObject {
  const { file, document } = from;
  return {
    kind,
    object,
    file,
    where: async (field = "") => {
      const { lineOfField } = await import("../yaml/read-yaml.ts");
      const whole = path === "" || field === "" ? path + field : `${path}.${field}`;
      return placed(from, lineOfField(document.text, whole));
    },
  };
}

async function refusal(error: DocumentError, told: { from: From; saysWhere: boolean }): Promise<InputError> {
  const { message, field, isOriginal, meant } = error;
  const isUnknownField = message.startsWith("field in document");
  const text = isUnknownField ? message : `failed to execute command: ${message}`;
  const { lineOfField } = await import("../yaml/read-yaml.ts");
  const place = placed(told.from, lineOfField(told.from.document.text, field));
  const details = [place, ...(isOriginal && field !== "" ? [field] : [])].join(", ");
  const advice = meant === undefined ? "" : `; did you mean ${meant}?`;
  // With -l warn it follows as advice, in scripts too.
  if (isOriginal && !told.saysWhere) {
    return new InputError(text, { isEmpty: false, cause: { next: `See ${details}${advice}`, cause: error } });
  }
  return new InputError(`${text} (${details}${advice})`, { isEmpty: false, cause: error });
}

function placed({ file, document }: From, line: number): string {
  return `${file}:${document.line - 1 + line}`;
}

function failed(what: string, cause?: unknown): InputError {
  return new InputError(`failed to execute command: ${what}`, { isEmpty: false, cause });
}
