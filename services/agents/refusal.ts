// What a workflow says of one item, as an error. NOT_YET passes within moments: the agent asks again in a second.
import { RopewalkError, type Problem } from '../../domain/errors.ts';

export const refusal = (problem: Problem) => new RopewalkError(problem, { retryAfterMs: 1_000 });
