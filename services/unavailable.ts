// Errors of an outage: Temporal, its workers or the database do not answer.
import { RopewalkError } from '../domain/errors.ts';

export const isUnavailable = (error: unknown): boolean =>
  error instanceof RopewalkError && error.problem.code === 'UNAVAILABLE';
