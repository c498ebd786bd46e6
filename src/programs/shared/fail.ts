// How a command ends badly: one paragraph on standard error and a non-zero exit code. An error nobody foresaw keeps its
// stack, because then the person reading it is us.
import { CattailError, messageOf, plainText } from "../../base/lib/index.ts";

export function fail(thrown: unknown): void {
  const error = understood(thrown);
  // What is wrong is often told in a peer's words.
  if (error instanceof CattailError)
    console.error(plainText(`cattail: ${sentence(error.problem)}\n${sentence(error.next)} (${error.code})`));
  else console.error("cattail: unexpected error:", error);
  process.exitCode ||= 1; // a command may have said something graver already
}

/** What it comes down to, where the place that met it cannot know. */
export function understood(error: unknown): unknown {
  if (isOutOfFiles(error)) return outOfFiles(error);
  return isDatastoreError(error) ? datastoreFailed(error) : error;
}

/** By its name: to import the class would load the datastores with every command. */
type DatastoreError = Error & { readonly code: string; readonly next?: string; readonly missingRule?: string };

function isDatastoreError(error: unknown): error is DatastoreError {
  return error instanceof Error && error.name === "DatastoreError" && "code" in error;
}

const adviceByCode: { readonly [code: string]: string } = {
  unavailable:
    "Check that the server of the datastore runs and can be reached from here; cattail doctor looks at it step by step",
  unauthorized: "Check the kubeconfig, token or certificate: the server does not accept it",
  forbidden: "Ask an administrator for the right to do this",
  conflict: "Somebody else changed it at the same time: read it again, and try again",
};

function datastoreFailed(error: DatastoreError): CattailError {
  const rule =
    error.missingRule === undefined
      ? undefined
      : `Add this rule to a role of this account:\n${error.missingRule.trimEnd()}`;
  const next =
    rule ?? error.next ?? adviceByCode[error.code] ?? "Run cattail doctor: it looks at the datastore step by step";
  return new CattailError("DATASTORE", { problem: error.message, next: capital(next), cause: error });
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// Met anywhere: by a module, a log file, a port, a thread, which has it in its words alone.
function isOutOfFiles(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /\bE[MN]FILE\b/.test(`${(error as NodeJS.ErrnoException).code} ${error.message}`) || isOutOfFiles(error.cause);
}

function outOfFiles(cause: unknown): CattailError {
  return new CattailError("TOO_MANY_FILES", {
    problem: `this process has reached its limit of open files (${messageOf(cause)})`,
    next: "Raise the limit (ulimit -n in a shell, LimitNOFILE= in a systemd unit). A server needs one file for each client and about 50 more",
    cause,
  });
}

/** Some end in a question: "did you mean …?" */
function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}
