// A body of `multipart/related` with two parts, as an upload of metadata and content has.
import { invalid } from './gcp-error.ts';

/** @throws GcpError 400 for another body. */
export function parseMultipart(contentType: string, body: Buffer): [Buffer, Buffer] {
  const boundary = /^multipart\/related;.*boundary="?([^";]+)"?/.exec(contentType)?.[1];
  if (boundary === undefined) throw invalid('Multipart content type with a boundary is required.');
  const parts: Buffer[] = [];
  const opening = Buffer.from(`--${boundary}\r\n`);
  const closing = Buffer.from(`\r\n--${boundary}`);
  for (let at = body.indexOf(opening); at !== -1 && parts.length < 2;) {
    const from = body.indexOf('\r\n\r\n', at) + 4;
    const to = body.indexOf(closing, from - 2);
    if (from < 4 || to === -1) break;
    parts.push(body.subarray(from, Math.max(from, to)));
    at = to + 2;
  }
  const [head, content] = parts;
  if (head === undefined || content === undefined) throw invalid('Multipart must have two parts.');
  return [head, content];
}
