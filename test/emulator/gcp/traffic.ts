// Writes every API call with its answer as one line: another program compares them with Google's own description of its APIs.
import { appendFileSync } from 'node:fs';

export interface Exchange {
  method: string;
  url: string;
  contentType: string;
  body: string;
  status: number;
  /** Null for the bytes of an object. */
  answer: object | null;
}

export type Traffic = (exchange: Exchange) => void;

export const createTraffic = (path: string | null): Traffic =>
  path === null ? () => {} : (exchange) => appendFileSync(path, `${JSON.stringify(exchange)}\n`);
