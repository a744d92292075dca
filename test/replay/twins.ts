// Twins of the workflow code, each with one step changed, and the history that must not replay with it any more.

export interface Twin {
  name: string;
  history: string;
  file: string;
  from: string;
  to: string;
  /** Part of the violation: it must be about this very step. */
  says: RegExp;
}

export const twins: Twin[] = [
  {
    name: 'a job that starts its cluster under another id',
    history: 'job-cancelled.bin',
    file: 'workflows/job/execute.ts',
    from: '    workflowId: clusterWorkflowId(state.number),\n    input: cluster,',
    to: '    workflowId: `${clusterWorkflowId(state.number)}/again`,\n    input: cluster,',
    says: /workflow id.*cluster\/\d+\/again|StartChildWorkflowExecution.*again|cluster\/\d+\/again/s,
  },
  {
    name: 'a job that forgets to archive its task page',
    history: 'job-loses-an-instance.bin',
    file: 'workflows/job/workflow.ts',
    from: '    if (pageDue(state) !== null) await writePage(state);',
    to: '    if (pageDue(state) !== null) state.page = [];',
    says: /archiveTaskPage/,
  },
  {
    name: 'a continued job that archives under another name',
    history: 'job-continued-last-run.bin',
    file: 'workflows/job/execute.ts',
    from: '  await control.archiveJob.executeWithOptions(',
    to: '  await control.archiveCluster.executeWithOptions(',
    says: /archiveJob/,
  },
  {
    name: 'a cluster that terminates before it looks',
    history: 'cluster-replaces-an-instance.bin',
    file: 'workflows/cluster/execute.ts',
    from: '  const news = await instances(state).inspectInstances.executeWithOptions(',
    to: '  const news = await instances(state).launchInstances.executeWithOptions(',
    says: /inspectInstances/,
  },
  {
    name: 'a cluster that never asks about the quiet',
    history: 'cluster-misses-an-instance.bin',
    file: 'domain/cluster/inspections.ts',
    from: "if (instance.state !== 'ready' || registeredAtMs === null",
    to: "if (instance.state !== 'starting' || registeredAtMs === null",
    says: /timer|inspectInstances/i,
  },
  {
    name: 'a cluster that skips the last look by tag',
    history: 'cluster-stopped.bin',
    file: 'workflows/cluster/execute.ts',
    from: '  const remains = await instances(state).terminateRemains.executeWithOptions(',
    to: '  const remains = await instances(state).terminateInstances.executeWithOptions(',
    says: /terminateRemains/,
  },
  {
    name: 'a workspace that starts its children as another type',
    history: 'workspace.bin',
    file: 'workflows/workspace/execute.ts',
    from: 'return { type: jobType,',
    to: "return { type: 'batch',",
    says: /batch/,
  },
  {
    name: 'a deployment that starts its workspaces under another id',
    history: 'deployment.bin',
    file: 'workflows/deployment/workflow.ts',
    from: '    workflowId: workspaceWorkflowId(slug),',
    to: '    workflowId: `ws/${slug}`,',
    says: /ws\/default/,
  },
  {
    name: 'a Dask cluster that takes a worker away without emptying it',
    history: 'dask-scaled-and-stopped.bin',
    file: 'domain/cluster/dask-plan.ts',
    from: 'const canDrain = state.instances.some(',
    to: 'const canDrain = state.target < 0 && state.instances.some(',
    // Where the history waits for the drain, right after the order to have fewer, the twin does something at once.
    says: /Activity machine does not handle.*TimerStarted.*after cluster\.scale$/s,
  },
  {
    name: 'a Dask cluster that reads its specification as a job does',
    history: 'dask-adaptive-until-idle.bin',
    file: 'workflows/cluster/execute.ts',
    from: '  const settings = await control.loadCluster.executeWithOptions(',
    to: '  const settings = await control.loadJob.executeWithOptions(',
    says: /loadCluster/,
  },
  {
    name: 'a sweep that judges without its memory',
    history: 'sweep-sees-orphans.bin',
    file: 'workflows/sweep/workflow.ts',
    from: 'control.readSightings.executeWithOptions(',
    to: 'control.describeClusters.executeWithOptions(',
    says: /readSightings/,
  },
  {
    name: 'a sweep that looks instead of ending',
    history: 'sweep-ends-orphans.bin',
    file: 'workflows/sweep/workflow.ts',
    from: 'at(providerQueue).terminateInstances.executeWithOptions(',
    to: 'at(providerQueue).listInstances.executeWithOptions(',
    says: /terminateInstances/,
  },
  {
    name: 'a healing that asks somebody else',
    history: 'heal.bin',
    file: 'workflows/heal/workflow.ts',
    from: 'control.healStandstills.executeWithOptions(',
    to: 'control.lookAtHolders.executeWithOptions(',
    says: /healStandstills/,
  },
  {
    name: 'a workspace that has forgotten how its starts flow',
    history: 'workspace-buries-a-job.bin',
    file: 'workflows/workspace/execute.ts',
    from: "const flowPatch = 'starts-flow';",
    to: "const flowPatch = 'starts-otherwise';",
    says: /starts-flow/,
  },
  {
    name: 'a workspace that buries a job without a last look at its instances',
    history: 'workspace-buries-a-job.bin',
    file: 'workflows/workspace/reconcile.ts',
    from: 'at(where.providerQueue).terminateRemains.executeWithOptions(',
    to: 'at(where.providerQueue).inspectInstances.executeWithOptions(',
    says: /terminateRemains/,
  },
];
