// Kubernetes objects as kubectl takes them from standard input.
import { stringify } from "yaml";

export function yamlDocuments(objects: readonly object[]): string {
  // Aliases and folded lines are good YAML, and bad to read and to compare.
  const texts = objects.map((object) => `---\n${stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 })}`);
  return texts.join("").trimEnd();
}
