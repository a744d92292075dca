// Converts a workflow's answer to one item to an error. NOT_YET ends within moments: the agent asks again in a second.
import { RopewalkError, type Problem } from '../../domain/errors.ts';

export const refusal = (problem: Problem) => new RopewalkError(problem, { retryAfterMs: 1_000 });
