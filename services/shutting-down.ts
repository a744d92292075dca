// The error for readers of long answers when this process ends; they reconnect to this or another replica.
import { RopewalkError } from '../domain/errors.ts';

export const shuttingDown = (): RopewalkError =>
  new RopewalkError({
    code: 'UNAVAILABLE',
    message: 'The API is shutting down.',
    hint: 'Ask again, with `since` set to the time of the last line you have.',
  });
