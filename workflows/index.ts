// What the Temporal worker bundles: the workflow functions, whose names are their types.
export { cluster } from './cluster/workflow.ts';
export { deployment } from './deployment/workflow.ts';
export { heal } from './heal/workflow.ts';
export { job } from './job/workflow.ts';
export { sweep } from './sweep/workflow.ts';
export { workspace } from './workspace/workflow.ts';
