// The thread that reads large bodies of jobs: decoding, scanning, parsing and checking 16 MiB would keep all other requests waiting.
import { parentPort } from 'node:worker_threads';

import { readJobBody } from './contents.ts';

export interface Sent {
  id: number;
  bytes: Uint8Array<ArrayBuffer>;
}

parentPort?.on('message', ({ id, bytes }: Sent) => {
  const body = readJobBody(bytes);
  const moved = body.contents.map(({ base64 }) => base64.buffer);
  parentPort?.postMessage({ id, body }, moved);
});
