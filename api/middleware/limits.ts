// How much one request may bring.
import { bodyLimit } from 'hono/body-limit';

import { RopewalkError } from '../../domain/errors.ts';
import { maxBodyBytes } from '../../domain/limits.ts';

export const limitBody = bodyLimit({
  maxSize: maxBodyBytes,
  onError: () => {
    throw new RopewalkError({
      code: 'TOO_LARGE',
      message: `A request body may have at most ${maxBodyBytes / 1024 / 1024} MiB.`,
      hint: 'Send large inputs another way, and only their names with the job.',
    });
  },
});
