// EC2 Query requests: flat form fields whose names encode a structure, `Filter.1.Value.2=x`.

/** The fields below one prefix of a request. */
export interface Params {
  /** The value at a name, or null. */
  text(name: string): string | null;
  /** Values of `Name.1`, `Name.2`, ... in order. */
  texts(name: string): string[];
  /** The fields below `Name.1`, `Name.2`, ... in order. */
  items(name: string): Params[];
  /** The fields below `Name`. */
  at(name: string): Params;
  /** Canonical text of all these fields except the named ones: the same content gives the same text. */
  content(except: readonly string[]): string;
  isEmpty: boolean;
}

export function readParams(body: string): Params {
  return paramsOf(new Map(new URLSearchParams(body)));
}

function paramsOf(fields: ReadonlyMap<string, string>): Params {
  const below = (prefix: string): ReadonlyMap<string, string> =>
    new Map(
      [...fields].flatMap(([name, value]) =>
        name.startsWith(`${prefix}.`) ? [[name.slice(prefix.length + 1), value] as const] : [],
      ),
    );
  const numbers = (name: string): number[] => {
    const found = [...below(name).keys()].map((rest) => Number.parseInt(rest, 10)).filter(Number.isInteger);
    return [...new Set(found)].sort((a, b) => a - b);
  };
  return {
    text: (name) => fields.get(name) ?? null,
    texts: (name) => numbers(name).map((n) => fields.get(`${name}.${n}`) ?? ''),
    items: (name) => numbers(name).map((n) => paramsOf(below(`${name}.${n}`))),
    at: (name) => paramsOf(below(name)),
    content: (except) =>
      JSON.stringify([...fields].filter(([name]) => !except.includes(name)).sort(([a], [b]) => (a < b ? -1 : 1))),
    isEmpty: fields.size === 0,
  };
}
