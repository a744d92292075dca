import { randomBytes } from 'node:crypto';

/** For files that live as long as their builder: build-once.ts removes those of dead ones. */
export const randomName = (): string => randomBytes(6).toString('hex');
