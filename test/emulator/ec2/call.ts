// The input of an EC2 operation of the emulator, and helpers for its answer.
import type { Params } from '../params.ts';
import type { Region } from '../state.ts';
import type { EmulatedAccount } from '../account.ts';
import type { Xml } from '../xml.ts';

export interface Call {
  account: EmulatedAccount;
  region: Region;
  params: Params;
  nowMs: number;
}

export type Operation = (call: Call) => { [name: string]: Xml };

export function readTags(call: { params: Call['params'] }, resource: string): Record<string, string> {
  const specifications = call.params.items('TagSpecification').filter((each) => each.text('ResourceType') === resource);
  return Object.fromEntries(
    specifications.flatMap((each) => each.items('Tag').map((tag) => [tag.text('Key') ?? '', tag.text('Value') ?? ''])),
  );
}

export const tagSet = (tags: Record<string, string>): Xml =>
  Object.entries(tags).map(([key, value]) => ({ key, value }));

/** `Filter.n`: every filter must hold; a filter holds when one of its values matches. `*` stands for any text. */
export function matches(call: Call, values: (name: string) => string[] | null): boolean {
  return call.params.items('Filter').every((filter) => {
    const found = values(filter.text('Name') ?? '');
    if (found === null) return false;
    return filter.texts('Value').some((wanted) => found.some((value) => like(wanted).test(value)));
  });
}

const like = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`);

/** One page of a list, by MaxResults and NextToken. */
export function page<T>(call: Call, all: readonly T[], unlimited = 1000): { items: T[]; nextToken: string | null } {
  const size = Number(call.params.text('MaxResults') ?? unlimited);
  const from = Number.parseInt(call.params.text('NextToken') ?? '0', 36);
  const items = all.slice(from, from + size);
  return { items, nextToken: from + size < all.length ? (from + size).toString(36) : null };
}
