// One text per meaning: two requests that say the same thing hash the same, whatever the order of their keys.
import { createHmac, type Hmac } from 'node:crypto';
import { setImmediate as pause } from 'node:timers/promises';

/** Of something small: it holds up all other requests of the process. */
export function hashBody(body: unknown, key: Uint8Array): string {
  return createHmac('sha256', key).update(canonicalJson(body)).digest('hex');
}

/** The same for a request of many MiB, with breaks for all other requests. Bytes are hashed as the text that they encode, which has no escapes. */
export async function hashLargeBody(body: unknown, key: Uint8Array): Promise<string> {
  const hash = createHmac('sha256', key);
  let text = '';
  for (const piece of piecesOf(body)) {
    if (typeof piece !== 'string') {
      hash.update(`${text}"`);
      text = '"';
      await addBytes(hash, piece);
      continue;
    }
    if (text.length + piece.length < pieceChars) {
      text += piece;
      continue;
    }
    hash.update(text);
    text = '';
    await add(hash, piece);
  }
  return hash.update(text).digest('hex');
}

export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = fieldsOf(value).map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`);
  return `{${fields.join(',')}}`;
}

const fieldsOf = (value: object): [string, unknown][] =>
  Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));

async function add(hash: Hmac, text: string): Promise<void> {
  for (let from = 0; from < text.length; from = endOfPiece(text, from)) {
    hash.update(text.slice(from, endOfPiece(text, from)));
    await pause();
  }
}

async function addBytes(hash: Hmac, bytes: Uint8Array): Promise<void> {
  for (let from = 0; from < bytes.byteLength; from += pieceChars) {
    hash.update(bytes.subarray(from, from + pieceChars));
    await pause();
  }
}

/** Each takes about a millisecond. */
const pieceChars = 1024 * 1024;

/** The halves of one character are hashed together: alone, each would be another one. */
function endOfPiece(text: string, from: number): number {
  const end = from + pieceChars;
  const isHigh = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isHigh ? end + 1 : end;
}

/** The text of `canonicalJson` in pieces. A list of many items is one of short items: it goes by as many at a time. */
function* piecesOf(value: unknown): Generator<string | Uint8Array> {
  if (value instanceof Uint8Array) yield value;
  else if (Array.isArray(value)) {
    const atOnce = value.length > manyItems ? manyItems : 1;
    for (let at = 0; at < value.length; at += atOnce) {
      yield at === 0 ? '[' : ',';
      if (atOnce === 1) yield* piecesOf(value[at]);
      else yield canonicalJson(value.slice(at, at + atOnce)).slice(1, -1);
    }
    yield value.length === 0 ? '[]' : ']';
  } else if (typeof value === 'object' && value !== null) {
    const fields = fieldsOf(value);
    for (const [at, [name, field]] of fields.entries()) {
      yield `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`;
      yield* piecesOf(field);
    }
    yield fields.length === 0 ? '{}' : '}';
  } else yield JSON.stringify(value) ?? 'null';
}

const manyItems = 1_000;
