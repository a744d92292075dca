// Streams of the API: a line of JSON each. `fetch` instead of EventSource, which can send no Authorization header.
import { refusalOf, type Session } from './session.ts';

/** Rejects with a text for people; a `final` error is not worth another attempt. */
export async function readLines<T>(
  { token }: Session,
  path: string,
  signal: AbortSignal,
  take: (line: T) => void,
): Promise<void> {
  const answer = await fetch(path, { headers: { authorization: `Bearer ${token}` }, signal });
  if (!answer.ok || answer.body === null) {
    const error = new Error(await refusalOf(answer));
    throw Object.assign(error, { isFinal: answer.status < 500 && answer.status !== 429 });
  }
  const decoder = new TextDecoder();
  const reader = answer.body.getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = `${rest}${decoder.decode(value, { stream: true })}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.filter((each) => each.trim() !== '')) {
      const parsed: T & { error?: { message: string } } = JSON.parse(line);
      if (parsed.error !== undefined) throw new Error(parsed.error.message);
      take(parsed);
    }
  }
}
