// Bounds of the numbers that agents send. An agent runs beside people's code, so any number may arrive. What an agent measures
// is lowered to its bound: a wrong clock or a huge count must not end an agent's work. What names something is refused.
import { z } from 'zod';

import { longestClusterMs } from '../domain/cluster/limits.ts';
import { maxAmount, maxBytesSaid, maxOrdinal, maxTimeMs } from '../domain/requests/limits.ts';

const measured = (max: number) =>
  z
    .number()
    .int()
    .min(0)
    .overwrite((value) => Math.min(value, max));

/** Tasks, workers, clients. */
export const amount = measured(maxAmount);

export const bytes = measured(maxBytesSaid);

/** Milliseconds; nothing that an agent measures is older than its cluster. */
export const spanMs = measured(longestClusterMs);

/** Milliseconds since 1970 by the instance's clock. RFC 3339 ends with the year 9999. */
export const timeMs = measured(maxTimeMs);

/** A number that names or counts something one by one: a lease, a task, a claim, a process. */
export const ordinal = z.number().int().min(0).max(maxOrdinal);

/** Windows has 32 bits, and so may a program that returns -1. */
export const exitCode = z
  .number()
  .int()
  .min(-(2 ** 31))
  .max(2 ** 32 - 1);
