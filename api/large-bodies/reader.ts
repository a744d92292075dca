// Reads large bodies in a thread, one after the other. It starts with the first body and stays, because a start takes longer than a body.
import { Worker } from 'node:worker_threads';

import type { ReadBody } from './contents.ts';
import type { Sent } from './thread.ts';

export interface BodyReader {
  /** Takes the bytes over: they are empty afterwards. */
  read(bytes: Uint8Array<ArrayBuffer>): Promise<ReadBody>;
}

/** `program`: another one than the thread's own, for tests. */
export function createBodyReader(program = new URL('thread.ts', import.meta.url)): BodyReader {
  const open = new Map<number, PromiseWithResolvers<ReadBody>>();
  let thread: Worker | null = null;
  let lastId = 0;

  const start = (): Worker => {
    const started = new Worker(program, { resourceLimits });
    // An idle thread does not keep the process.
    started.unref();
    started.on('message', ({ id, body }: { id: number; body: ReadBody }) => {
      open.get(id)?.resolve(body);
      open.delete(id);
    });
    const fail = (error: Error): void => {
      if (thread !== started) return;
      thread = null;
      for (const { reject } of open.values()) reject(error);
      open.clear();
    };
    started.on('error', fail);
    started.on('exit', (code) => fail(new Error(`the thread that reads large bodies ended with ${code}`)));
    return started;
  };

  return {
    read(bytes) {
      const answer = Promise.withResolvers<ReadBody>();
      const id = (lastId += 1);
      open.set(id, answer);
      thread ??= start();
      const sent: Sent = { id, bytes };
      thread.postMessage(sent, [bytes.buffer]);
      return answer.promise;
    },
  };
}

/** A body of 16 MiB with as many small parts as possible takes some hundred MB as objects. */
const resourceLimits = { maxOldGenerationSizeMb: 1_024 };
