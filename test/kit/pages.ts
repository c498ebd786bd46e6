// The project's Markdown pages as data: their links, code and headings. Patterns instead of a parser: our pages use links,
// fences and inline code in their plainest forms.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

export type Page = { readonly file: string; readonly text: string };

/** Every page of the project; vectors hold none, and what npm or the build put there is not ours. */
export function pages(): Page[] {
  const ours = ["*.md", "{docs,examples,src,test,tools,bench,web}/**/*.md"];
  return globSync(ours, { exclude: ["**/node_modules/**"] })
    .sort()
    .map((file) => ({ file, text: readFileSync(file, "utf8") }));
}

/** Links and images to files of ours, with the heading they name. */
export function linksOf({ file, text }: Page): { target: string; heading: string | undefined }[] {
  const prose = text.replaceAll(/^ *```[\s\S]*?^ *```/gm, "").replaceAll(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = "", heading] = target.split("#");
      return { target: path === "" ? file : normalize(join(dirname(file), path)), heading };
    });
}

/** As GitHub makes anchors of headings. */
export function anchorsOf({ text }: Page): string[] {
  const headings = [...text.replaceAll(/^ *```[\s\S]*?^ *```/gm, "").matchAll(/^#+ (.*)$/gm)];
  return headings.map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** What stands in backticks, and the lines of fenced blocks that are not in another language. */
export function codeOf({ text }: Page): string[] {
  const fenced = [...text.matchAll(/^ *```(?:sh|console)?\n([\s\S]*?)^ *```/gm)].flatMap(([, code = ""]) =>
    code.split("\n"),
  );
  const inline = [...text.replaceAll(/^ *```[\s\S]*?^ *```/gm, "").matchAll(/`([^`\n]+)`/g)].map(
    ([, code = ""]) => code,
  );
  return [...fenced, ...inline];
}
