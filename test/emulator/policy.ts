// The supported part of IAM policies: statements that allow actions on resources under conditions. An action without an allowing
// statement is refused.
import { z } from 'zod';

const list = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat());
const condition = z.record(z.string(), z.record(z.string(), list));
const statement = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.literal('Allow'),
  Action: list,
  Resource: list,
  Condition: condition.optional(),
});
/** Rejects policy elements that are not evaluated here: Deny, NotAction, Principal. */
const schema = z.strictObject({ Version: z.literal('2012-10-17'), Statement: z.array(statement) });

export type Policy = z.output<typeof schema>;
export const parsePolicy = (document: string): Policy => schema.parse(JSON.parse(document));

/** One permission that a request needs. */
export interface Need {
  /** E.g. `ec2:TerminateInstances`. */
  action: string;
  arn: string;
  /** Condition keys and their values, e.g. `aws:ResourceTag/ropewalk:deployment`. */
  context: Readonly<Record<string, string>>;
}

export const allows = (policies: readonly Policy[], need: Need): boolean =>
  policies.some(({ Statement }) =>
    Statement.some(
      ({ Action, Resource, Condition = {} }) =>
        Action.some((action) => like(action.toLowerCase(), need.action.toLowerCase())) &&
        Resource.some((resource) => like(resource, need.arn)) &&
        Object.entries(Condition).every(([operator, keys]) =>
          Object.entries(keys).every(([key, values]) => holds(operator, values, need.context[key])),
        ),
    ),
  );

/** A key that the request does not have fails every supported operator. */
function holds(operator: string, values: readonly string[], found: string | undefined): boolean {
  if (found === undefined) return false;
  switch (operator) {
    case 'StringEquals':
      return values.includes(found);
    case 'StringLike':
    case 'ArnLike':
      return values.some((value) => like(value, found));
    default:
      throw new Error(`The emulator does not evaluate the condition ${operator}.`);
  }
}

/** `*` is any text, `?` any character. */
function like(pattern: string, text: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(text);
}
