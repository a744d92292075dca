/** Who an instance belongs to. All three are in its tags, set by the call that creates it. */
export interface Owner {
  deploymentId: string;
  workspace: string;
  cluster: number;
}
