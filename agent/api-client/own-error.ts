// Distinguishes the API's errors from those of a proxy, a load balancer or a captive portal: the API puts the error's code in a
// header and in the body.
import { errorHeader } from '../../schema/agent.ts';
import { errorBody } from '../../schema/common.ts';
import type { HttpAnswer } from './http.ts';

/** Null when the answer is not provably the API's. */
export function ownError({
  headers,
  text,
}: Pick<HttpAnswer, 'headers' | 'text'>): { code: string; message: string } | null {
  const body = parse(text);
  if (body === null || headers[errorHeader] !== body.code) return null;
  return { code: body.code, message: body.message.slice(0, maxMessageChars) };
}

const maxMessageChars = 300;

function parse(text: string): { code: string; message: string } | null {
  try {
    return errorBody.safeParse(JSON.parse(text)).data?.error ?? null;
  } catch {
    return null;
  }
}
