// What a command is about: the objects of -f, or KIND and NAMEs. Each has its kind and its place, or the reason why it has
// none; whoever goes on with it meets the reason as any other failure of that object.
import { kindByName, kindInfo, namedKinds } from "../../../../calico/kinds/index.ts";
import {
  type ApiKind,
  isApiKind,
  nameInMessages,
  ResourceError,
  type ResourceId,
  type V3Object,
  v3Version,
} from "../../../../calico/resources/index.ts";
import type { Invocation } from "../../command.ts";
import { suggestion } from "../../command-line/suggest.ts";
import { type Console, CtlError } from "../../console.ts";
import { type InputObject, readInput } from "../../input/read-input.ts";
import { type Flags, namespaceOf } from "./place.ts";

export type Target = {
  readonly kind: ApiKind;
  /** Without a name: all objects of the kind. */
  readonly id: ResourceId;
  /** -A: of every namespace. */
  readonly isEverywhere: boolean;
  /** With the namespace that it goes to. Of words: nothing but a name. */
  readonly object: V3Object;
  /** FILE:LINE of it in the input, or of one of its fields. */
  readonly where?: InputObject["where"];
  /** Why it cannot be asked for. */
  readonly refusal?: ResourceError;
};

/** IPPool(p), NetworkPolicy(prod/web) */
export function nameOf({ kind, id }: Pick<Target, "kind" | "id">): string {
  return nameInMessages(kind, id);
}

export function flagsOf({ isSet, value }: Invocation): Flags {
  return { namespace: value("namespace") ?? "", isEverywhere: isSet("all-namespaces") };
}

/** Of -f. Throws InputError. No target: --skip-empty was given, and there is nothing. */
export async function targetsOfInput(invocation: Invocation, console: Console): Promise<readonly Target[]> {
  const filename = invocation.value("filename") ?? "";
  const options = {
    filename,
    isRecursive: invocation.isSet("recursive"),
    skipsEmpty: invocation.isSet("skip-empty"),
  };
  const flags = flagsOf(invocation);
  return (await readInput(options, console)).map((input) => targetOfInput(input, flags));
}

function targetOfInput({ kind, object, where }: InputObject, flags: Flags): Target {
  return { ...targetOf(kind, object, flags), where };
}

/** Of KIND [NAME...]; the kind alone is one target without a name. Throws CtlError for a kind that is none. */
export function targetsOfWords([word = "", ...names]: readonly string[], flags: Flags): readonly Target[] {
  const kind = kindOfWord(word);
  if (names.includes("")) throw new CtlError("resource name may not be empty");
  return (names.length === 0 ? [""] : names).map((name) =>
    targetOf(kind, { kind, apiVersion: v3Version, metadata: name === "" ? {} : { name }, spec: {} }, flags),
  );
}

/** Throws CtlError. */
function kindOfWord(word: string): ApiKind {
  const kind = kindByName(word);
  if (kind !== undefined && isApiKind(kind)) return kind;
  throw new CtlError(`resource type '${word}' is not supported${suggestion(word, fullNames())}`);
}

/** Without the short ones, to which everything is near. */
function fullNames(): string[] {
  return namedKinds.flatMap((kind) => kindInfo(kind).names?.slice(0, 2) ?? []);
}

function targetOf(kind: ApiKind, object: V3Object, flags: Flags): Target {
  const { name = "" } = object.metadata;
  const place = namespaceOf(kind, object.metadata, flags);
  const isEverywhere = place.is === "all";
  const namespace = place.is === "namespace" ? place.namespace : (object.metadata.namespace ?? "");
  const metadata = namespace === "" ? object.metadata : { ...object.metadata, namespace };
  const target = { kind, id: { namespace, name }, isEverywhere, object: { ...object, metadata } };
  return place.is === "refused" ? { ...target, refusal: new ResourceError("invalid", place.why) } : target;
}
