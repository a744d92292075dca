/** Who an instance belongs to. All three are in its tags, set by the call that creates it. */
export interface Owner {
  deploymentId: string;
  workspace: string;
  cluster: number;
}

/** The same text for the same owner, and for no other. */
export const ownerKey = (owner: Owner): string => JSON.stringify([owner.deploymentId, owner.workspace, owner.cluster]);
