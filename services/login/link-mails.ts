// Work on requested links after their answers, so an answer does not depend on whether a user has the address.
import type { Logger } from 'pino';

import { maxMailLinksUnderWay } from '../../domain/people/limits.ts';

export interface LinkMails {
  /** Begins the work once the answer is on its way; drops it when too much is under way. */
  add(work: () => Promise<void>): void;
  /** Resolves when the work under way has ended. */
  settled(): Promise<void>;
}

export function createLinkMails(logger: Logger): LinkMails {
  const underWay = new Set<Promise<void>>();
  return {
    add(work) {
      if (underWay.size >= maxMailLinksUnderWay) return logger.warn('a request for a link was dropped: too many wait');
      const ended: Promise<void> = afterAnswer()
        .then(work)
        .catch((error: unknown) => logger.warn({ err: error }, 'a link to sign in could not be sent'))
        .finally(() => underWay.delete(ended));
      underWay.add(ended);
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}

/** The answer is written within a few turns of the event loop; a database in this process must not delay it. */
const afterAnswer = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, afterAnswerMs));
const afterAnswerMs = 50;
