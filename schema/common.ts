// Shapes that every route shares.
import { z } from 'zod';

/** A name that people can type: of a job, of its cluster, of an environment. */
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

/** The last of an answer of lines that could not be given to its end; `status` is what the answer would have had. */
export const errorLine = errorBody.extend({ status: z.number().int() });
export type ErrorLine = z.infer<typeof errorLine>;

export const reason = z.object({ code: z.string(), text: z.string(), at: z.iso.datetime() });

/** A whole number in a path or query. `Number('1e2')` and `Number('0x10')` are numbers too, and no one means those. */
const digits = (inner: z.ZodNumber) =>
  z.preprocess((value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value), inner);

const wholeNumber = z.number({ error: 'expected a whole number in decimal digits' }).int();

/** `after` is the `next` of the page before; the last page has `next: null`. */
export const pageQuery = z.object({
  limit: digits(wholeNumber.min(1).max(1000)).default(100),
  after: z.string().max(200).optional(),
});

export const numberParam = z.object({ number: digits(wholeNumber.min(1).max(999_999_999_999)) });

/** A time or how long ago: `2026-11-22T10:00:00Z`, `2h`, `3 days`. */
const timeOrAge = z.string().min(1).max(64).describe('An RFC 3339 time, or how long ago: 2h, 3 days.');

/** One or more, as repeated parameters or with commas between them. */
export const listOf = <T extends z.ZodType>(item: T) =>
  z.preprocess(
    (value) =>
      (Array.isArray(value) ? value : [value]).flatMap((each) => (typeof each === 'string' ? each.split(',') : each)),
    z.array(item).min(1).max(20),
  );

/** All given conditions hold. Jobs and clusters add what is theirs. */
export const listQuery = pageQuery.extend({
  /** Exactly this name. */
  name: z.string().min(1).max(100).optional(),
  /** `true`: only those that have not ended. A name belongs to at most one of them. */
  open: z.enum(['true', 'false']).default('false'),
  /** Started by this user. */
  user: z.string().min(1).max(100).optional(),
  /** Started at this time or later. */
  since: timeOrAge.optional(),
  /** Started at this time or earlier. */
  until: timeOrAge.optional(),
  /** Part of name or command, in any case. A private command is found by its creator only. */
  q: z.string().min(1).max(200).describe('Part of name or command, in any case.').optional(),
});
export type ListQuery = z.output<typeof listQuery> & { status?: string[] | undefined };

/** A name that people give a thing of theirs, as pages and terminals show it: no characters that control these, or change the direction of text. */
export const label = z
  .string()
  .max(100)
  // As ranges: tools that read the document know no \p{Cc}.
  .regex(
    /^[^\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*$/,
    'has control characters or characters that change the direction of text',
  )
  .default('');

/** US dollars; a cluster that has cost as much ends. */
export const maxCostInput = z
  .number()
  .min(0.01)
  .max(1_000_000)
  .describe('US dollars: it ends when it has cost this much.');

/** People may write "20 minutes" or 1200. */
export const durationInput = z.union([z.number().positive(), z.string().min(1).max(64)]);
