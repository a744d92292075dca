// Shapes that every route shares.
import { z } from 'zod';

export const errorBody = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    field: z.string().optional(),
    hint: z.string().optional(),
    docs: z.string().optional(),
    requestId: z.string(),
  }),
});
export type ErrorBody = z.infer<typeof errorBody>;

/** The last of an answer of lines that could not be given to its end; `status` is what the answer would have had. */
export const errorLine = errorBody.extend({ status: z.number().int() });
export type ErrorLine = z.infer<typeof errorLine>;

export const reason = z.object({ code: z.string(), text: z.string(), at: z.iso.datetime() });

/** `after` is the `next` of the page before; the last page has `next: null`. */
export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  after: z.string().max(200).optional(),
});

export const numberParam = z.object({ number: z.coerce.number().int().min(1).max(999_999_999_999) });

/** People may write "20 minutes" or 1200. */
export const durationInput = z.union([z.number().positive(), z.string().min(1).max(64)]);
