/** The owner of an instance. All three fields are in its tags, set by the call that creates it. */
export interface Owner {
  deploymentId: string;
  workspace: string;
  cluster: number;
}

/** Equal texts for equal owners only. */
export const ownerKey = (owner: Owner): string => JSON.stringify([owner.deploymentId, owner.workspace, owner.cluster]);
