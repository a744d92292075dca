// Files that a script of the command names in its lines, as in `python helper.py data.csv`: they are sent with it, as Coiled does.
import { access, constants, readFile, realpath } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';

import type { CliContext } from './context.ts';
import { describeFile, type Found } from './found-file.ts';
import { ownPlaces } from './header-paths.ts';
import { hasScriptEnding } from './outside-scripts.ts';
import { isSecretName } from './secret-names.ts';
import { wordsOfLine } from './split-words.ts';

/** A larger file is data that a script happens to mention; it is sent where --upload asks for it. */
const maxDataBytes = 32 * 1024;
const maxScriptBytes = 1024 * 1024;
/** A script is read by people: one that names more files lists its data. */
const maxImplicitFiles = 100;

/**
 * Of scripts, one level deep: files in the directory of the command that `scripts` name; `taken` are paths that are sent already.
 * `room`: what the job can carry besides `scripts`. Files that are only named never refuse a job: those that cannot be sent are noted.
 */
export async function filesNamedIn(
  scripts: readonly Found[],
  taken: ReadonlySet<string>,
  room: { bytes: number; files: number },
  context: Pick<CliContext, 'cwd' | 'env'>,
  note: (text: string) => void,
): Promise<Found[]> {
  const isOwn = await ownPlaces(context);
  const known = new Set<string>();
  const sent: Found[] = [];
  const left = new Map<string, string[]>();
  let bytes = 0;
  for (const word of await wordsOf(scripts)) {
    const source = resolve(context.cwd, word);
    const path = relative(context.cwd, source).split(sep).join('/');
    if (known.has(source) || taken.has(path)) continue;
    known.add(source);
    const file = await describeFile(source);
    const place = file === null ? 'outside' : await isOwn(source);
    if (file === null || place === 'outside') continue;
    const reason =
      place === 'hidden' || (await isSecret(source, context.cwd))
        ? 'they are hidden or have names of keys, credentials or databases'
        : file.bytes > (hasScriptEnding(path) ? maxScriptBytes : maxDataBytes)
          ? 'of their size'
          : !(await isReadable(source))
            ? 'they cannot be read'
            : sent.length >= Math.min(maxImplicitFiles, room.files)
              ? `at most ${maxImplicitFiles} such files are sent`
              : bytes + file.bytes > room.bytes
                ? "a job's files have at most 10 MiB together"
                : null;
    if (reason !== null) {
      left.set(reason, [...(left.get(reason) ?? []), path]);
      continue;
    }
    bytes += file.bytes;
    sent.push({ ...file, path });
  }
  const names = scripts.map(({ path }) => path).join(', ');
  if (sent.length > 0) note(`sent too, because ${names} names them: ${sent.map(({ path }) => path).join(', ')}`);
  for (const [reason, paths] of left)
    note(`not sent, although ${names} names them, because ${reason}: ${paths.join(', ')}; use --upload to send them`);
  return sent;
}

const isReadable = async (source: string): Promise<boolean> =>
  access(source, constants.R_OK).then(
    () => true,
    () => false,
  );

/** By its path in the directory of the command, and by the one to which links lead. */
async function isSecret(source: string, cwd: string): Promise<boolean> {
  const paths = [relative(cwd, source), relative(await realpath(cwd), await realpath(source))];
  return paths.some((path) => isSecretName(path) || path.split(sep).some((name) => name.startsWith('.')));
}

async function wordsOf(scripts: readonly Found[]): Promise<Set<string>> {
  const words = new Set<string>();
  for (const { path, source } of scripts) {
    const text = (await readFile(source).catch(() => Buffer.alloc(0))).toString('utf8');
    if (text.includes('\0') || !(hasScriptEnding(path) || text.startsWith('#!'))) continue;
    for (const line of text.split(/\r\n|\n|\r/)) {
      if (line.length > 4_000) continue;
      const code = line.replace(separators, ' ').replace(comment, '$<code>');
      if (!mentionsFiles.test(code)) continue;
      for (const word of wordsOfLine(code) ?? []) if (isName(word)) words.add(word);
    }
  }
  return words;
}

/** As Coiled has it: a line that runs Python, or that has the ending of a script or of a small file. */
const mentionsFiles = /python|\.(?:py|sh|ya?ml|txt|[ct]sv|json)\b/;
/** Of a shell and of Python: `open("data.csv")`, `["python", "helper.py"]`. */
const separators = /[|;&<>()`\\[\]{},=]+/g;

/** From a `#` at the beginning of a word, outside quotes. */
const comment = /^(?<code>(?:[^'"#]|'[^']*'|"[^"]*"|(?<=\S)#)*)(?<!\S)#.*$/;

const isName = (word: string): boolean =>
  word !== '' && word.length < 400 && !word.includes('\0') && !word.startsWith('/');
