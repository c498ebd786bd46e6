// Cuts a text into its YAML documents, before anything is parsed: at every line that begins with three dashes, the rest of
// which is dropped. A text that begins with such a line keeps it. A last document without anything in it is none.

export type DocumentText = {
  readonly text: string;
  /** Of its first line in the whole text, from 1. */
  readonly line: number;
};

const separator = /\r?\n---[^\n]*(?:\n|$)/g;

export function splitDocuments(text: string): readonly DocumentText[] {
  const documents: DocumentText[] = [];
  let start = 0;
  let line = 1;
  for (const match of text.matchAll(separator)) {
    documents.push({ text: text.slice(start, match.index), line });
    const end = match.index + match[0].length;
    line += countLines(text, start, end);
    start = end;
  }
  if (start < text.length) documents.push({ text: text.slice(start), line });
  return documents;
}

function countLines(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", start); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
