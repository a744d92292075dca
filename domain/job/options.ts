// Coiled's batch options that Ropewalk knows but does not carry out: which are harmless to leave out, and which would change
// what runs. Each with the end of a sentence that says why. Options about machines are here for the local provider alone:
// providers that choose machines honour them (machine-options.ts). All other texts are true of every provider.

const oneMachine = 'the local provider runs every task on this machine as it is';
const sameSoftware = 'package sync is for jobs that a Python program submits (ropewalk.batch.run)';
const ownNetwork = 'the local provider opens no port for a job';
const ofTheClient = 'it is an option of the command line, not of the script';

/** Left out with a warning: the same command runs, with the same input. */
export const noEffect = new Map([
  ['memory', oneMachine],
  ['cpu', oneMachine],
  ['vm-type', oneMachine],
  ['scheduler-vm-type', oneMachine],
  ['arm', oneMachine],
  ['gpu', oneMachine],
  ['region', oneMachine],
  ['zone', oneMachine],
  ['spot-policy', oneMachine],
  ['allow-cross-zone', oneMachine],
  ['no-cross-zone', oneMachine],
  ['disk-size', oneMachine],
  ['run-on-host', 'tasks always run on the instance itself'],
  ['tag', 'instances get the tags of their deployment only'],
  ['wait-for-capacity', oneMachine],
  ['allow-ssh', ownNetwork],
  ['allow-ssh-from', ownNetwork],
  ['allow-ingress-from', ownNetwork],
  ['ignore-container-entrypoint', 'no container is used'],
  ['package-sync-strict', sameSoftware],
  ['package-sync-conda-extras', sameSoftware],
  ['package-sync-ignore', sameSoftware],
  ['task-on-scheduler', 'the head instance always runs tasks'],
  ['forward-aws-credentials', 'tasks use the credentials of the instance they run on'],
  ['workspace', 'the token decides on the workspace'],
  ['wait', ofTheClient],
  ['format', ofTheClient],
]);

const noContainers = 'commands run without containers';
const noMapping = 'tasks get their id, not an input; choose the input by ROPEWALK_BATCH_TASK_ID';
const noFilestore = 'there is no file store yet';

/** Refused: without them something else would run than what the user described. */
export const refused = new Map([
  ['container', noContainers],
  ['dask-container', noContainers],
  ['software', 'named software environments do not exist yet; use --requirement or --requirements-file'],
  ['host-setup-script', 'nothing is set up before a task'],
  ['map-over-values', noMapping],
  ['map-over-file', noMapping],
  ['map-over-input-var', noMapping],
  ['map-over-delimiter', noMapping],
  ['env-file', 'only the command line can read it; pass it there'],
  ['secret-env-file', 'only the command line can read it; pass it there'],
  ['upload', 'only the command line can read local files; pass it there'],
  ['download', noFilestore],
  ['sync', noFilestore],
  ['pipe-to-files', noFilestore],
  ['input-filestore', noFilestore],
  ['output-filestore', noFilestore],
  ['scheduler-sidecar-spec', 'nothing runs beside the tasks'],
  ['no-task-on-scheduler', 'the head instance always runs tasks'],
  ['scheduler-task-array', 'which instance runs which task cannot be chosen'],
  ['wait-for-ready-cluster', 'tasks start as soon as the first instance is ready'],
]);
