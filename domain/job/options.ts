// Coiled's batch options that Ropewalk knows but does not implement: those that can be left out without harm, and those that would change the run.
// Each has the end of a sentence that states the reason. Machine options are here for the local provider only: providers that choose machines
// implement them (machine-options.ts). All other texts are true of every provider.

const oneMachine = 'the local provider runs every task on this machine as it is';
const sameSoftware = 'only the command line and ropewalk.batch.run can read a Python environment';
const ownNetwork = 'the local provider opens no port for a job';
const ofTheClient = 'it is an option of the command line, not of the script';

/** Left out with a warning: the same command runs with the same input. */
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
  ['tag', oneMachine],
  ['wait-for-capacity', oneMachine],
  ['allow-ssh', ownNetwork],
  ['allow-ssh-from', ownNetwork],
  ['allow-ingress-from', ownNetwork],
  ['instance-credentials', oneMachine],
  ['dask-container', 'a job runs without Dask; container names the image of its tasks'],
  ['package-sync-strict', sameSoftware],
  ['package-sync-conda-extras', sameSoftware],
  ['package-sync-ignore', sameSoftware],
  ['package-sync-only', sameSoftware],
  ['package-sync-fail-on', sameSoftware],
  ['no-package-sync', sameSoftware],
  ['no-implicit-file-upload', 'only the command line and ropewalk.batch.run search scripts for files to send'],
  ['workspace', 'the token decides on the workspace'],
  ['wait', ofTheClient],
  ['format', ofTheClient],
]);

const localPlace = 'only the command line can read and write local files; pass it there';

/** Refused: without them the run would differ from the user's request. */
export const refused = new Map([
  ['host-setup-script', 'only the command line can read local files; pass it there'],
  ['map-over-file', 'only the command line can read local files; pass it there'],
  ['env-file', 'only the command line can read it; pass it there'],
  ['secret-env-file', 'only the command line can read it; pass it there'],
  ['upload', localPlace],
  ['download', localPlace],
  ['sync', localPlace],
  ['scheduler-sidecar-spec', 'only the command line and ropewalk.batch.run can read local files; pass it there'],
  [
    'forward-aws-credentials',
    'only the client has credentials to forward; pass it to the command line or to batch.run',
  ],
]);
