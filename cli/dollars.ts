// Amounts of US dollars on a terminal.

/** `$0.01`; a smaller positive amount is `<$0.01`. */
export function formatDollars(dollars: number): string {
  if (dollars > 0 && dollars < 0.01) return '<$0.01';
  return `$${dollars.toFixed(2)}`;
}

/** The cost of one task, which is often less than a cent: `$0.0012`. */
export function formatTaskCost(cost: { dollars: number } | null): string {
  if (cost === null) return '';
  if (cost.dollars > 0 && cost.dollars < 0.0001) return '<$0.0001';
  return `$${cost.dollars.toFixed(4)}`;
}

/** The cost of a job or cluster: empty until it has had an instance. */
export const formatCost = (cost: { dollars: number } | null | undefined): string =>
  cost === null || cost === undefined ? '' : formatDollars(cost.dollars);
