// Reads a response body of one JSON value per line as it arrives. Lines can span chunks.
import { ConnectionError, errorFromLine, RopewalkApiError, ServerError } from './errors.ts';
import { trusted } from './request.ts';

/**
 * Ends with the body; leaving the loop early cancels the request. An incomplete body throws the error of the API's last line,
 * or ConnectionError.
 */
export async function* readNdjson<T>(response: Response, signal?: AbortSignal): AsyncGenerator<T, void, undefined> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  // Pieces of an unfinished line are joined once: repeated concatenation of a long line takes quadratic time.
  let pieces: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = value.split('\n');
      const last = lines.pop() ?? '';
      for (const line of lines) {
        pieces.push(line);
        const text = pieces.join('');
        pieces = [];
        if (text.trim() !== '') yield parse<T>(text);
      }
      pieces.push(last);
    }
    const rest = pieces.join('');
    if (rest.trim() !== '') yield parseTail<T>(rest);
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof RopewalkApiError) throw cause;
    throw incomplete(cause);
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parse<T>(line: string): T {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new ServerError('a line of the log is not JSON', { code: 'BAD_ANSWER', status: null }, { cause });
  }
  const error = errorFromLine(value);
  if (error !== null) throw error;
  return trusted<T>(value);
}

/** The last line can lack its line break, but not a part of its value. */
function parseTail<T>(text: string): T {
  try {
    return trusted<T>(JSON.parse(text));
  } catch (cause) {
    throw incomplete(cause);
  }
}

function incomplete(cause: unknown): ConnectionError {
  const hint = 'Repeat the request with `since` set to the time of the last line received.';
  return new ConnectionError(
    'the connection was lost before the end of the answer',
    { code: 'CONNECTION', status: null, hint },
    { cause },
  );
}
