// Schemas that all routes share.
import { z } from 'zod';

/** A name of a job, of its cluster, or of an environment. */
export const nameInput = z
  .string()
  .regex(
    /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$/,
    'letters, digits, ".", "_" and "-", starting with a letter or digit, at most 100',
  );

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

/** The last line of a response in lines that failed before its end; `status` is the status that the response would have had. */
export const errorLine = errorBody.extend({ status: z.number().int() });
export type ErrorLine = z.infer<typeof errorLine>;

export const reason = z.object({ code: z.string(), text: z.string(), at: z.iso.datetime() });

/** A whole number in a path or query. `Number('1e2')` and `Number('0x10')` are numbers too, but never meant. */
export const digits = (inner: z.ZodNumber) =>
  z.preprocess((value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value), inner);

export const wholeNumber = z.number({ error: 'expected a whole number in decimal digits' }).int();

/** `after` is the `next` of the previous page; the last page has `next: null`. */
export const pageQuery = z.object({
  limit: digits(wholeNumber.min(1).max(1000)).default(100),
  after: z.string().max(200).optional(),
});

export const numberParam = z.object({ number: digits(wholeNumber.min(1).max(999_999_999_999)) });

/** A time, or an age: `2026-11-22T10:00:00Z`, `2h`, `3 days`. */
const timeOrAge = z.string().min(1).max(64).describe('An RFC 3339 time, or how long ago: 2h, 3 days.');

/** One or more values, as repeated parameters or separated by commas. */
export const listOf = <T extends z.ZodType>(item: T) =>
  z.preprocess(
    (value) =>
      (Array.isArray(value) ? value : [value]).flatMap((each) => (typeof each === 'string' ? each.split(',') : each)),
    z.array(item).min(1).max(20),
  );

/** All given conditions must hold. Jobs and clusters add their own. */
export const listQuery = pageQuery.extend({
  /** Exact match of the name. */
  name: z.string().min(1).max(100).optional(),
  /** `true`: only those that have not ended. At most one of them has a given name. */
  open: z.enum(['true', 'false']).default('false'),
  /** Started by this user. */
  user: z.string().min(1).max(100).optional(),
  /** Started at this time or later. */
  since: timeOrAge.optional(),
  /** Started at this time or earlier. */
  until: timeOrAge.optional(),
  /** Part of the name or command, ignoring case. A private command matches only for its creator. */
  q: z.string().min(1).max(200).describe('Part of name or command, in any case.').optional(),
});
export type ListQuery = z.output<typeof listQuery> & { status?: string[] | undefined };

/** A label on pages and in terminals: without control characters and without characters that change the direction of text. */
export const label = z
  .string()
  .max(100)
  // As ranges, because tools that read the document do not support \p{Cc}.
  .regex(
    /^[^\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*$/,
    'has control characters or characters that change the direction of text',
  )
  .default('');

/** US dollars; a cluster that has cost this much ends. */
export const maxCostInput = z
  .number()
  .min(0.01)
  .max(1_000_000)
  .describe('US dollars: it ends when it has cost this much.');

/** "20 minutes", or 1200 seconds. */
export const durationInput = z.union([z.number().positive(), z.string().min(1).max(64)]);
