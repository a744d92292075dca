// The bundle of the Temporal worker: the names of the workflow functions are the workflow types.
export { cluster } from './cluster/workflow.ts';
export { job } from './job/workflow.ts';
export { reconcile } from './reconcile/workflow.ts';
export { scheduledRun } from './scheduled-run/workflow.ts';
export { stuckWorkflows } from './stuck-workflows/workflow.ts';
export { sweep } from './sweep/workflow.ts';
