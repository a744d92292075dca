// A response body of one JSON value per line, as it arrives: lines are put together across chunks.
import { ConnectionError, errorFromLine, RopewalkApiError, ServerError } from './errors.ts';
import { trusted } from './request.ts';

/**
 * Ends with the body; leaving the loop early cancels it. When it breaks off it throws what the API's last line tells, or
 * ConnectionError.
 */
export async function* readNdjson<T>(response: Response, signal?: AbortSignal): AsyncGenerator<T, void, undefined> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  // Pieces of an unfinished line are kept apart, so that a long line does not cost its square.
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
    throw brokenOff(cause);
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
  const told = errorFromLine(value);
  if (told !== null) throw told;
  return trusted<T>(value);
}

/** The last line may lack its line end, but not its second half. */
function parseTail<T>(text: string): T {
  try {
    return trusted<T>(JSON.parse(text));
  } catch (cause) {
    throw brokenOff(cause);
  }
}

function brokenOff(cause: unknown): ConnectionError {
  const hint = 'Ask again, with `since` set to the time of the last line you have.';
  return new ConnectionError('the log broke off before its end', { code: 'CONNECTION', status: null, hint }, { cause });
}
