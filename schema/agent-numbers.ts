// Bounds of the numbers that agents send. An agent runs beside users' code, so any number may arrive. Measured values are lowered to their bound,
// because a wrong clock or a huge count must not end an agent's work. Identifying numbers beyond their bound are refused.
import { z } from 'zod';

import { longestClusterMs } from '../domain/cluster/limits.ts';
import { maxAmount, maxBytesSaid, maxOrdinal, maxTimeMs } from '../domain/requests/limits.ts';

const measured = (max: number) =>
  z
    .number()
    .int()
    .min(0)
    .overwrite((value) => Math.min(value, max));

/** Numbers of tasks, workers, clients. */
export const amount = measured(maxAmount);

export const bytes = measured(maxBytesSaid);

/** Milliseconds; no agent measures a longer time than its cluster's lifetime. */
export const spanMs = measured(longestClusterMs);

/** Milliseconds since 1970 by the instance's clock. RFC 3339 ends with the year 9999. */
export const timeMs = measured(maxTimeMs);

/** A number that identifies or counts single items: a lease, a task, a claim, a process. */
export const ordinal = z.number().int().min(0).max(maxOrdinal);

/** 32 bits, because Windows, and a program that returns -1, use them all. */
export const exitCode = z
  .number()
  .int()
  .min(-(2 ** 31))
  .max(2 ** 32 - 1);
