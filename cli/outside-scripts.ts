// Decides which files that a command names by an absolute path, `~/` or `../` are the user's scripts. Scripts are sent with the
// job; other such paths mean programs and data of the instance, e.g. /usr/bin/python3.
import { basename, delimiter, dirname } from 'node:path';

/** `path` is absolute; `content` is the whole file; `searchPath` is the user's PATH. */
export function isScript(path: string, content: Uint8Array, searchPath: string): boolean {
  if (content.includes(0)) return false;
  const text = new TextDecoder().decode(content);
  if (headerLine.test(text)) return true;
  return (text.startsWith('#!') || extension.test(path)) && !holdsPrograms(dirname(path), searchPath);
}

// The server's rule for headers: domain/batch-header.ts.
const headerLine = /^\s*(?:#+|\/\/)\s*(?:ROPEWALK|COILED)(?![A-Za-z0-9_])/m;
/** Whether a name has a script's extension. */
export const hasScriptEnding = (name: string): boolean => extension.test(name);

const extension = /\.(?:py|sh|bash|R|jl|js|mjs|ts|rb|pl)$/;

/** Scripts there, e.g. pip of a virtual environment, are installed programs. */
const holdsPrograms = (directory: string, searchPath: string): boolean =>
  /^s?bin$/.test(basename(directory)) || searchPath.split(delimiter).includes(directory);
