// How many deliveries an API process has under way. A receiver that does not answer holds a place for seconds: without shares the deliveries of one
// workspace would keep those of all others waiting.

export const maxUnderWay = 32;
export const maxOfWorkspace = 12;
/** A receiver that hangs leaves room for the other webhooks of its workspace. */
export const maxOfWebhook = 8;

export interface Place {
  workspace: string;
  webhook: string;
}

export interface Shares {
  /** False, and nothing is counted, when its webhook or workspace has no place left. */
  take(place: Place): boolean;
  /** Those without a place left. */
  full(): { workspaces: string[]; webhooks: string[] };
}

export function createShares(underWay: Iterable<Place>): Shares {
  const workspaces = new Map<string, number>();
  const webhooks = new Map<string, number>();
  const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  const add = ({ workspace, webhook }: Place): void => {
    count(workspaces, workspace);
    count(webhooks, webhook);
  };
  const withMax = (counts: Map<string, number>, max: number) =>
    [...counts].filter(([, places]) => places >= max).map(([key]) => key);
  for (const place of underWay) add(place);
  return {
    take(place) {
      const { workspace, webhook } = place;
      if ((workspaces.get(workspace) ?? 0) >= maxOfWorkspace || (webhooks.get(webhook) ?? 0) >= maxOfWebhook)
        return false;
      add(place);
      return true;
    },
    full: () => ({ workspaces: withMax(workspaces, maxOfWorkspace), webhooks: withMax(webhooks, maxOfWebhook) }),
  };
}
