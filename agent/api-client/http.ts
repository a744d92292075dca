// One HTTP request over kept-alive connections. `fetch` would need less code, but its memory is copied for every started
// command, which costs a quarter of the system's work for a short task.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

import { HttpAgent, HttpsAgent, requestHttp, requestHttps } from '../node-http.ts';

export interface HttpRequest {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body: string | null;
  signal: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Uint8Array;
  /** The body decoded as UTF-8. */
  readonly text: string;
}

/** Follows no redirects. A request may arrive twice: it is sent again at once when a kept connection has ended meanwhile. */
export async function sendHttp(url: URL, input: HttpRequest): Promise<HttpAnswer> {
  const sent = sendOnce(url, input);
  try {
    return await sent.answer;
  } catch (error) {
    if (!sent.wasKept() || input.signal.aborted) throw error;
    return sendOnce(url, input, false).answer;
  }
}

const http = { request: requestHttp, agent: new HttpAgent({ keepAlive: true }) };
const https = { request: requestHttps, agent: new HttpsAgent({ keepAlive: true }) };

function sendOnce(
  url: URL,
  { method, headers, body, signal }: HttpRequest,
  keeps = true,
): { answer: Promise<HttpAnswer>; wasKept: () => boolean } {
  const { request, agent } = url.protocol === 'https:' ? https : http;
  const length = body === null ? {} : { 'content-length': Buffer.byteLength(body) };
  const options = { method, headers: { ...headers, ...length }, agent: keeps ? agent : false, signal };
  const sent = request(url, options);
  const answer = new Promise<HttpAnswer>((resolve, reject) => {
    sent.once('response', (response) => void read(response).then(resolve, reject));
    sent.once('error', reject);
    sent.end(body ?? undefined);
  });
  return { answer, wasKept: () => sent.reusedSocket };
}

async function read(response: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    bytes,
    get text() {
      return bytes.toString('utf8');
    },
  };
}
