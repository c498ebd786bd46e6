// WebAssembly's text format to its binary format, as much of it as our one program needs: a memory, a function, folded
// instructions on 32-bit integers. What it does not know is an error, never left out.

type Expression = string | Expression[];
type Names = { readonly locals: readonly string[]; readonly labels: readonly string[] };

const plain: Record<string, readonly number[]> = {
  return: [0x0f],
  "i32.eqz": [0x45],
  "i32.eq": [0x46],
  "i32.lt_u": [0x49],
  "i32.gt_u": [0x4b],
  "i32.le_u": [0x4d],
  "i32.ge_u": [0x4f],
  "i32.add": [0x6a],
  "i32.sub": [0x6b],
  "i32.and": [0x71],
  "i32.or": [0x72],
  "i32.shl": [0x74],
  "i32.shr_u": [0x76],
  // Memory: alignment and offset, or which memories, follow. Alignment 0 promises nothing.
  "i32.load": [0x28, 0, 0],
  "i32.load8_u": [0x2d, 0, 0],
  "i32.load16_u": [0x2f, 0, 0],
  "i32.store8": [0x3a, 0, 0],
  "v128.load": [0xfd, 0, 0, 0],
  "v128.store": [0xfd, 11, 0, 0],
  "memory.copy": [0xfc, 10, 0, 0],
};
const typeCodes: Record<string, number> = { i32: 0x7f };
const emptyBlock = 0x40;

export function assemble(text: string): Uint8Array {
  const [keyword, memory, func, ...others] = listOf(parse(text));
  if (keyword !== "module" || others.length > 0) throw new Error("a module of one memory and one function is wanted");
  const [memoryName, ...pages] = exported(memory, "memory");
  const [funcName, ...parts] = exported(func, "func");
  const of = (name: string) => parts.filter((part) => part[0] === name).map((part) => listOf(part));
  const [params, results, locals] = [of("param"), of("result"), of("local")];
  const body = parts.slice(params.length + results.length + locals.length);
  const names: Names = { locals: [...params, ...locals].map((each) => textOf(each[1])), labels: [] };
  const types = (each: Expression[]) => typeCode(each.at(-1));
  const code = [
    ...vector(locals.map((each) => [1, types(each)])),
    ...body.flatMap((each) => instruction(each, names)),
    0x0b,
  ];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [
      [0x60, ...vector(params.map((each) => [types(each)])), ...vector(results.map((each) => [types(each)]))],
    ]),
    ...section(3, [[0]]),
    ...section(5, [[1, ...pages.flatMap((each) => unsigned(Number(each)))]]),
    ...section(7, [
      [...bytesOf(memoryName), 2, 0],
      [...bytesOf(funcName), 0, 0],
    ]),
    ...section(10, [[...unsigned(code.length), ...code]]),
  ]);
}

function parse(text: string): Expression {
  const tokens = text.replace(/;;.*/g, "").match(/[()]|"[^"]*"|[^\s()]+/g) ?? [];
  let at = 0;
  const next = (): Expression => {
    const token = tokens[at++];
    if (token === undefined || token === ")") throw new Error(`unexpected ${token ?? "end"}`);
    if (token !== "(") return token;
    const list: Expression[] = [];
    while (tokens[at] !== ")") list.push(next());
    at += 1;
    return list;
  };
  const first = next();
  if (at < tokens.length) throw new Error(`unexpected ${tokens[at]}`);
  return first;
}

function instruction(expression: Expression, names: Names): number[] {
  const [name, ...args] = listOf(expression);
  const all = (list: readonly Expression[], label?: string) => {
    const inner = label === undefined ? names : { ...names, labels: [label, ...names.labels] };
    return list.flatMap((each) => instruction(each, inner));
  };
  const [first, second, third] = args;
  switch (name) {
    case "local.get":
      return [0x20, ...unsigned(indexOf(names.locals, first))];
    case "local.set":
      return [...all(args.slice(1)), 0x21, ...unsigned(indexOf(names.locals, first))];
    case "i32.const":
      return [0x41, ...signed(Number(first) | 0)];
    case "block":
      return [0x02, emptyBlock, ...all(args.slice(1), textOf(first)), 0x0b];
    case "loop":
      return [0x03, emptyBlock, ...all(args.slice(1), textOf(first)), 0x0b];
    case "br":
      return [0x0c, ...unsigned(indexOf(names.labels, first))];
    case "br_if":
      return [...all(args.slice(1)), 0x0d, ...unsigned(indexOf(names.labels, first))];
    case "if": {
      const otherwise = third === undefined ? [] : [0x05, ...all(branch(third, "else"), "")];
      return [...all(args.slice(0, 1)), 0x04, emptyBlock, ...all(branch(second, "then"), ""), ...otherwise, 0x0b];
    }
    default: {
      const code = plain[textOf(name)];
      if (code === undefined) throw new Error(`no such instruction here: ${textOf(name)}`);
      return [...all(args), ...code];
    }
  }
}

function exported(expression: Expression | undefined, keyword: string): [string, ...Expression[]] {
  const [word, name, ...rest] = listOf(expression);
  const [isExport, text] = listOf(name);
  if (word !== keyword || isExport !== "export") throw new Error(`a ${keyword} with an export is wanted`);
  return [textOf(text).slice(1, -1), ...rest];
}

function branch(expression: Expression | undefined, keyword: string): Expression[] {
  const [word, ...rest] = listOf(expression);
  if (word !== keyword) throw new Error(`${keyword} is wanted`);
  return rest;
}

function listOf(expression: Expression | undefined): Expression[] {
  if (!Array.isArray(expression)) throw new Error(`a list is wanted, not ${expression}`);
  return expression;
}

function textOf(expression: Expression | undefined): string {
  if (typeof expression !== "string") throw new Error("a word is wanted");
  return expression;
}

function indexOf(names: readonly string[], name: Expression | undefined): number {
  const index = names.indexOf(textOf(name));
  if (index < 0) throw new Error(`nothing is called ${textOf(name)}`);
  return index;
}

function typeCode(type: Expression | undefined): number {
  const code = typeCodes[textOf(type)];
  if (code === undefined) throw new Error(`no such type here: ${textOf(type)}`);
  return code;
}

function section(id: number, parts: readonly number[][]): number[] {
  const content = vector(parts);
  return [id, ...unsigned(content.length), ...content];
}

function vector(parts: readonly number[][]): number[] {
  return [...unsigned(parts.length), ...parts.flat()];
}

function bytesOf(text: string): number[] {
  return vector([...Buffer.from(text)].map((byte) => [byte]));
}

// Seven bits a byte, lowest first; all but the last have the eighth set.
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  const isLast = value >= -0x40 && value < 0x40;
  return isLast ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}
