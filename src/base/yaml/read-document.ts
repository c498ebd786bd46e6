// A file of one document that may have secrets in it. Words stay words there, as a password may look like a number.
import { readQuickly } from "./quick-yaml.ts";
import { readWord } from "./unsure.ts";

/** Throws for what is neither JSON nor YAML, in the words of YAML's package, which quote the text. */
export async function readDocument(text: string): Promise<unknown> {
  if (text.trimStart().startsWith("{")) {
    try {
      return JSON.parse(text); // a tenth of the time, and no YAML library
    } catch {
      // YAML may begin with a brace, too; and what is wrong is said about YAML
    }
  }
  const quick = readQuickly(text, readWord);
  if (quick !== undefined) return quick.value;
  const { parseYaml } = await import("./parse-yaml.ts");
  return parseYaml(text);
}
