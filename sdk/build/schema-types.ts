// Prints the types of schema/ that the SDK exports as the compiler resolves them, so the package needs neither zod nor the
// schemas. Doc comments of the schemas' fields are kept.
import { dirname, join } from 'node:path';

import { API, type Checker, SymbolFlags, TypeFlags, type Type } from 'typescript/unstable/sync';

/**
 * `used`: names by module of schema/. Throws when a type cannot be written without the schemas, e.g. a class.
 */
export function printSchemaTypes(project: string, used: ReadonlyMap<string, ReadonlySet<string>>): string {
  const api = new API({ cwd: dirname(project) });
  try {
    const opened = api.updateSnapshot({ openProjects: [project] }).getProject(project);
    if (opened === undefined) throw new Error(`the compiler has not opened ${project}`);
    const { checker, program } = opened;
    const named: NamedType[] = [];
    for (const [module, names] of [...used].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const file = program.getSourceFile(join(dirname(project), '..', 'schema', `${module}.ts`));
      const exported = file && checker.getSymbolAtLocation(file);
      for (const symbol of exported ? checker.getExportsOfModule(exported) : []) {
        if (!names.has(symbol.name) || (symbol.flags & SymbolFlags.TypeAlias) === 0) continue;
        const type = checker.getDeclaredTypeOfSymbol(symbol);
        named.push({ name: symbol.name, type, doc: checker.getDocumentationCommentOfSymbol(symbol) });
      }
    }
    return print(checker, named, new Set([...used.values()].flatMap((names) => [...names])));
  } finally {
    api.close();
  }
}

interface NamedType {
  name: string;
  type: Type;
  doc: string;
}

function print(checker: Checker, named: readonly NamedType[], wanted: ReadonlySet<string>): string {
  const missing = [...wanted].filter((name) => !named.some((each) => each.name === name));
  if (missing.length > 0) throw new Error(`schema/ exports no type ${missing.join(', ')}`);
  const byText = new Map(named.map(({ name, type }) => [textOf(checker, type), name]));
  const declarations = named.map(({ name, type, doc }) => {
    const body = createPrinter(checker, byText, name)(type, '');
    return `${comment(doc, '')}export type ${name} = ${body};\n`;
  });
  return `// Made by sdk/build from schema/: what the API takes and answers.\n\n${declarations.join('\n')}`;
}

/** The full text of a type: equal texts are equal types. */
const textOf = (checker: Checker, type: Type): string => checker.typeToString(type, undefined, noTruncation);
const noTruncation = 1;

/** Prints a type at an indentation. An inner type with its own name is printed as that name. */
function createPrinter(
  checker: Checker,
  byText: ReadonlyMap<string, string>,
  own: string,
): (type: Type, indent: string) => string {
  const inner = (type: Type, indent: string): string => {
    const name = type.isObjectType() || type.isUnionType() ? byText.get(textOf(checker, type)) : undefined;
    return name === undefined || name === own ? whole(type, indent) : name;
  };
  const whole = (type: Type, indent: string): string => {
    if (type.isUnionType()) return printUnion(type.getTypes(), (each) => inner(each, indent));
    if (type.isTypeReference()) {
      const elements = checker.getTypeArguments(type);
      const texts = elements.map((each) => inner(each, indent));
      if (checker.isTupleType(type)) return `[${texts.join(', ')}]`;
      const isUnion = elements[0]?.isUnionType() === true && !/^\w+$/.test(texts[0] ?? '');
      if (checker.isArrayType(type)) return isUnion ? `(${texts[0]})[]` : `${texts[0]}[]`;
    }
    if (type.isObjectType() && !type.isClassOrInterface()) return printObject(type, indent);
    const text = textOf(checker, type);
    if ((type.flags & plainFlags) === 0) throw new Error(`${own}: cannot write the type ${text}`);
    return text;
  };
  const printObject = (type: Type, indent: string): string => {
    const [index] = checker.getIndexInfosOfType(type);
    if (index !== undefined) return `Record<${inner(index.keyType, indent)}, ${inner(index.valueType, indent)}>`;
    const deeper = `${indent}  `;
    const lines = checker.getPropertiesOfType(type).map((property) => {
      const value = checker.getTypeOfSymbol(property);
      if (value === undefined) throw new Error(`${own}: property ${property.name} has no type`);
      const optional = (property.flags & SymbolFlags.Optional) === 0 ? '' : '?';
      const doc = comment(checker.getDocumentationCommentOfSymbol(property), deeper);
      return `${doc}${deeper}${property.name}${optional}: ${inner(value, deeper)};\n`;
    });
    return `{\n${lines.join('')}${indent}}`;
  };
  return whole;
}

const plainFlags =
  TypeFlags.String |
  TypeFlags.Number |
  TypeFlags.Boolean |
  TypeFlags.Unknown |
  TypeFlags.Null |
  TypeFlags.Undefined |
  TypeFlags.StringLiteral |
  TypeFlags.NumberLiteral |
  TypeFlags.BooleanLiteral;

/** `null` and `undefined` last; `true | false` is `boolean`. */
function printUnion(types: readonly Type[], print: (type: Type) => string): string {
  const texts = types.map(print);
  const isBoolean = texts.includes('true') && texts.includes('false');
  const named = texts.filter((text) => !empty.includes(text) && !(isBoolean && ['true', 'false'].includes(text)));
  const parts = [...named, ...(isBoolean ? ['boolean'] : []), ...empty.filter((text) => texts.includes(text))];
  return parts.join(' | ');
}

const empty = ['null', 'undefined'];

function comment(doc: string, indent: string): string {
  const lines = doc.trim().split('\n');
  if (lines[0] === '') return '';
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}
