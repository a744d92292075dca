// Streams of the API: one line of JSON each. Uses `fetch`, because EventSource cannot send an Authorization header.
import { refusalIn, type Session } from './session.ts';

/** The API sends at least an empty line every 10 s. After a laptop's sleep a connection may be lost without notice. */
const silentMs = 35_000;

/** Rejects with a user-facing text; a `final` error needs no retry. */
export async function readLines<T>(
  session: Session,
  path: string,
  left: AbortSignal,
  take: (line: T) => void,
): Promise<void> {
  const silent = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hear = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silent.abort(new Error('The connection has gone silent.')), silentMs);
  };
  hear();
  try {
    await readAll(session, path, { signal: AbortSignal.any([left, silent.signal]), hear, take });
  } finally {
    clearTimeout(timer);
  }
}

async function readAll<T>(
  session: Session,
  path: string,
  { signal, hear, take }: { signal: AbortSignal; hear: () => void; take: (line: T) => void },
): Promise<void> {
  const headers = { authorization: `Bearer ${session.token}` };
  const answer = await fetch(path, { headers, signal }).catch((error: unknown) => {
    throw error instanceof TypeError ? new Error('The API cannot be reached.') : error;
  });
  if (!answer.ok || answer.body === null) {
    const error = new Error(await refusalIn(session, answer));
    throw Object.assign(error, { isFinal: answer.status < 500 && answer.status !== 429 });
  }
  const decoder = new TextDecoder();
  const reader = answer.body.getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    hear();
    const lines = `${rest}${decoder.decode(value, { stream: true })}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.filter((each) => each.trim() !== '')) {
      const parsed: T & { error?: { message: string } } = JSON.parse(line);
      if (parsed.error !== undefined) throw new Error(parsed.error.message);
      take(parsed);
    }
  }
}
