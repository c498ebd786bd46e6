// Numbers that have names: a number without one stays a number, so that what a newer kernel adds is passed on as it is.

type Table = { readonly [name: string]: number };
export type Named<T extends Table> = (keyof T & string) | number;

export function numberOf<T extends Table>(table: T, value: Named<T>): number {
  return typeof value === "number" ? value : (table[value] as number);
}

/** The way back, made once for each table: a dump asks it three times for each route (bench/netlink). */
export function namesOf<T extends Table>(table: T): (value: number) => Named<T> {
  const names: (keyof T & string)[] = [];
  for (const name of Object.keys(table) as (keyof T & string)[]) names[table[name] as number] = name;
  return (value) => names[value] ?? value;
}

/** The flags that are set, by name; those without a name are left out. */
export function flagNames<T extends Table>(table: T, value: number): (keyof T & string)[] {
  return (Object.keys(table) as (keyof T & string)[]).filter((name) => (value & (table[name] as number)) !== 0);
}

export function flagBits<T extends Table>(table: T, names: readonly (keyof T & string)[]): number {
  return names.reduce((bits, name) => bits | (table[name] as number), 0);
}

export const scopes = { global: 0, site: 200, link: 253, host: 254, nowhere: 255 } as const;
export const scopeName = namesOf(scopes);
export type Scope = Named<typeof scopes>;
