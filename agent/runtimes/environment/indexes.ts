// Package indexes with credentials, as lines of a requirements file that uv reads from its standard input: other users of the
// instance cannot read them there, and uv's source builds do not inherit them.
import type { PackageIndex } from '../../../schema/software.ts';
import type { Tools } from './run-tool.ts';

export const indexLines = (indexes: readonly PackageIndex[]): string =>
  indexes.map((index) => `${index.default ? '--index-url' : '--extra-index-url'} ${withCredentials(index)}\n`).join('');

/** uv prefers an index of its environment over one of its input. */
export function withoutOwnIndex(tools: Tools, indexes: readonly PackageIndex[]): Tools {
  if (!indexes.some((index) => index.default)) return tools;
  const environment = Object.entries(tools.environment).filter(([name]) => !ofIndexes.has(name));
  return { ...tools, environment: Object.fromEntries(environment) };
}

const ofIndexes = new Set(['PIP_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_INDEX_URL']);

function withCredentials({ url, username, password }: PackageIndex): string {
  const address = new URL(url);
  // The setters leave some characters unescaped, which uv would parse as parts of the URL.
  address.username = encodeURIComponent(username);
  address.password = encodeURIComponent(password);
  return address.href;
}
