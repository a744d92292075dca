// Twins of the workflow code, each with one step changed, and the history that it must no longer replay.

export interface Twin {
  name: string;
  history: string;
  file: string;
  from: string;
  to: string;
  /** Part of the violation: it must name exactly this step. */
  says: RegExp;
}

export const twins: Twin[] = [
  {
    name: 'a job that starts its cluster under another id',
    history: 'job-cancelled.bin',
    file: 'workflows/job/execute.ts',
    from: 'workflowId: clusterWorkflowId(number), input: cluster',
    to: 'workflowId: `${clusterWorkflowId(number)}/again`, input: cluster',
    says: /workflow id.*cluster\/\d+\/again|StartChildWorkflowExecution.*again|cluster\/\d+\/again/s,
  },
  {
    name: 'a job that forgets to write its task page',
    history: 'job-loses-an-instance.bin',
    file: 'workflows/job/workflow.ts',
    from: '(await tryWritePages(state)) ? null : Date.now() + pageRetryMs;',
    to: '(state.page = []) === null ? 0 : null;',
    says: /archiveTaskPage/,
  },
  {
    name: 'a continued job that ends without its final view',
    history: 'job-continued-last-run.bin',
    file: 'workflows/job/execute.ts',
    from: '  await control.writeView.executeWithOptions(',
    to: '  await control.noteUsage.executeWithOptions(',
    says: /writeView/,
  },
  {
    name: 'a cluster that does not write its view while it runs',
    history: 'cluster-stopped.bin',
    file: 'domain/projection.ts',
    from: 'if (shown.status !== written.status) return retryAtMs;',
    to: 'if (shown.status !== written.status) return null;',
    says: /writeView/,
  },
  {
    name: 'a cluster that terminates before it inspects',
    history: 'cluster-misses-an-instance.bin',
    file: 'workflows/cluster/execute.ts',
    from: 'instances(state).inspectInstances.executeWithOptions(',
    to: 'instances(state).launchInstances.executeWithOptions(',
    says: /inspectInstances/,
  },
  {
    name: 'a cluster that never asks about the silent',
    history: 'cluster-misses-an-instance.bin',
    file: 'domain/cluster/instance/suspicion.ts',
    from: "if (suspicion?.inspection === 'wanted') return 0;",
    to: "if (suspicion?.inspection === 'wanted') return null;",
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
    name: 'a Dask cluster that takes a worker away without emptying it',
    history: 'dask-scaled-and-stopped.bin',
    file: 'domain/cluster/dask/plan.ts',
    from: 'const canDrain = state.instances.some(',
    to: 'const canDrain = state.target < 0 && state.instances.some(',
    // Where the history waits for the drain, right after the order to scale in, the twin acts at once.
    says: /noteUsage.*terminateInstances/s,
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
    name: 'a check for stuck workflows by another activity',
    history: 'stuck-workflows.bin',
    file: 'workflows/stuck-workflows/workflow.ts',
    from: 'control.resetStuckWorkflows.executeWithOptions(',
    to: 'control.checkStuckWorkflows.executeWithOptions(',
    says: /resetStuckWorkflows/,
  },
  {
    name: 'a reconciliation that finalizes a row without terminating its instances',
    history: 'reconcile-finalizes-a-job.bin',
    file: 'workflows/reconcile/workflow.ts',
    from: 'at(place.providerQueue).terminateRemains.executeWithOptions(',
    to: 'at(place.providerQueue).inspectInstances.executeWithOptions(',
    says: /terminateRemains/,
  },
];
