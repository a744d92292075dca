// Transfers one file over HTTP from or to the disk, never whole in memory. The command line uses it too. URLs may be signed,
// which makes them secrets: no error contains one.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { readRetryAfter } from '../api-client/retry-after.ts';
import { requestHttp, requestHttps } from '../node-http.ts';
import { openInside } from './open-inside.ts';

export interface Place {
  url: string;
  headers: Record<string, string>;
}

/** Ends a transfer that is idle for this long. */
const idleMs = 60_000;

/** `within`: the directory that must contain the file, whatever replaces it meanwhile; null for our own file. */
export async function sendFile(
  { path, within }: { path: string; within: string | null },
  { url, headers }: Place,
  signal: AbortSignal,
): Promise<void> {
  const file = await openInside(path, within);
  try {
    await send(file, { url, headers }, signal);
  } finally {
    await file.close();
  }
}

async function send(file: FileHandle, { url, headers }: Place, signal: AbortSignal): Promise<void> {
  const { size } = await file.stat();
  const request = open('PUT', url, { headers: { ...headers, 'content-length': String(size) }, signal });
  const answered = answerOf(request);
  // The server may answer and close before it has read everything: its answer then has the reason.
  const sent = pipeline(file.createReadStream({ autoClose: false }), request).catch((error: unknown) => error);
  const response = await Promise.race([
    answered,
    sent.then((error) => (error === undefined ? answered : orAnswer(answered, error))),
  ]);
  await requireOk(response);
  response.resume();
}

/** The other side refused the transfer, or it stopped. */
export class TransferError extends Error {
  /** From the answer's `Retry-After`; null for none. */
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null = null) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The received content differs from the requested one. */
export class OtherContent extends TransferError {}

/** Creates `path`, which must not exist. Rejects with OtherContent, and keeps the file, when the content has another SHA-256. */
export async function receiveFile(
  path: string,
  sha256: string,
  { url, headers }: Place,
  signal: AbortSignal,
): Promise<void> {
  const request = open('GET', url, { headers, signal });
  request.end();
  const response = await answerOf(request);
  await requireOk(response);
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(response, hashing, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  if (hash.digest('hex') !== sha256) throw new OtherContent('the file arrived damaged: its SHA-256 is another one');
}

/** The SHA-256 in lower-case hexadecimal, and the length. `within`: as for sendFile. */
export async function describeFile(path: string, within: string | null): Promise<{ sha256: string; bytes: number }> {
  const file = await openInside(path, within);
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      const read: Buffer = chunk;
      hash.update(read);
      bytes += read.byteLength;
    }
    return { sha256: hash.digest('hex'), bytes };
  } finally {
    await file.close();
  }
}

function open(
  method: 'GET' | 'PUT',
  url: string,
  { headers, signal }: { headers: Record<string, string>; signal: AbortSignal },
): ClientRequest {
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  const opened = request(url, { method, headers, signal });
  opened.setTimeout(idleMs, () => opened.destroy(new TransferError(`no byte was transferred for ${idleMs / 1_000} s`)));
  return opened;
}

const answerOf = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });

const orAnswer = (answered: Promise<IncomingMessage>, error: unknown): Promise<IncomingMessage> =>
  answered.catch(() => {
    throw error;
  });

async function requireOk(response: IncomingMessage): Promise<void> {
  const { statusCode = 0 } = response;
  if (statusCode >= 200 && statusCode < 300) return;
  let text = '';
  for await (const chunk of response) text = `${text}${String(chunk)}`.slice(0, 4_000);
  // Error bodies of buckets contain the signed request; only their code is safe to show.
  const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? /"message":"([^"]{1,200})"/.exec(text)?.[1] ?? '';
  const retryAfterMs = readRetryAfter(response.headers['retry-after']);
  throw new TransferError(`the answer was ${statusCode}${code === '' ? '' : `: ${code}`}`, retryAfterMs);
}
