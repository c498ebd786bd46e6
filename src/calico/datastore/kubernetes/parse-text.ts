// JSON as the API server sends it, with its large numbers exact wherever that is possible.
import { parseJson } from "../../model/index.ts";

/**
 * Throws SyntaxError for what is no JSON. To keep numbers exact the parser walks what it has read, and nesting of
 * thousands of levels ends its stack. One such object must not keep all others of its kind from being read: then the
 * text is read with numbers rounded, and whoever converts the object refuses it.
 */
export function parseText(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof RangeError) return JSON.parse(text);
    throw error;
  }
}
