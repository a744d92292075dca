// `ropewalk batch run`: submits a job. The server reads the script's header; this command only sends words and files.
import { Command, Option } from 'commander';

import type { Client, CreateJob } from '../../../sdk/client.ts';
import { collect, parseCount, parseDollars, parseNumbers, parsePath } from '../../arguments.ts';
import { describeSession, readAwsSession, refuseOwnCredentials } from '../../aws-session.ts';
import { withCoiledOptions } from '../../coiled-options.ts';
import { checkCommandPath } from '../../command-path.ts';
import { commandWords } from '../../command-words.ts';
import type { CliContext, Finish } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { readEnvironment } from '../../environment.ts';
import { containerOf, saysYes, withContainer } from '../../containers.ts';
import { exitCodes } from '../../errors.ts';
import { collectFiles } from '../../files.ts';
import type { Found } from '../../found-file.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { mapOverOf, storedListNote, withMapOver } from '../../map-over.ts';
import { inOptions } from '../../option-names.ts';
import { jobMachinesOf, withJobMachines } from '../../machines.ts';
import { describeMisplaced } from '../../misplaced-options.ts';
import { pythonPathOf, syncedSoftware, syncOf, withPackageSync } from '../../package-sync.ts';
import { formatPrice, showPlan } from '../../plan.ts';
import { softwareNameOf, softwareOf, withSoftware } from '../../software.ts';
import { downloadJobFiles, prepareDownload } from '../../transfer/job-files.ts';
import { storeInputs } from '../../transfer/job-inputs.ts';
import { sidecarsOf } from '../../sidecars.ts';
import { detachedFromJob, watchJob } from '../../watch.ts';
import type { AllFlags, RunFlags } from './run-flags.ts';
import { withHeader } from './run-flags.ts';

const help = `
Words of COMMAND that name files below the current directory, of at most 1 MiB
each, are sent with the job under that path. A script that COMMAND names by an
absolute path, ~/ or ../ is sent under its name; other such paths mean files of
the instance. Each task runs in its own directory, with ROPEWALK_BATCH_TASK_ID
(and COILED_BATCH_TASK_ID) in its environment. Options can also be written in
the script: # ROPEWALK ntasks 10

The tasks of a Python script get the environment of your python: its version,
packages, and the modules beside the script (--no-package-sync turns it off,
--python PATH names another python).

  ropewalk batch run --ntasks 10 my_script.sh
  ropewalk batch run --map-over-file inputs.txt process.py \\$ROPEWALK_BATCH_TASK_INPUT
  ropewalk batch run --array 0-10:2 --wait python3 my_script.py --fast`;

export function runCommand(context: CliContext, finish: Finish): Command {
  return commandOf(context, async (words, flags, options) => {
    const exitCode = await run(context, words, flags, options).catch((error: unknown) => {
      throw inOptions(error, flags);
    });
    finish(exitCode);
  });
}

/** The submission of `run` for these words, its options first; uploads files that are not sent with the job itself. */
export async function readJob(context: CliContext, words: string[], client: Client): Promise<CreateJob> {
  let job: CreateJob | null = null;
  const command = commandOf(context, async (parsed, given, options) => {
    const flags = await withHeader(context, parsed, given);
    const { input, ...large } = await inputOf(context, parsed, flags, options);
    const inputFiles = await storeInputs(context, flags, { client, ...large, signal: new AbortController().signal });
    job = { ...input, ...inputFiles };
  });
  command.exitOverride().configureOutput({
    writeOut: (text) => context.output.out(text.trimEnd()),
    writeErr: (text) => context.output.err(text.trimEnd()),
  });
  await command.parseAsync(words, { from: 'user' });
  if (job === null) throw new Error('the command has no action');
  return job;
}

type Act = (words: string[], flags: RunFlags, options: Record<string, string>) => Promise<void>;

function commandOf(context: CliContext, act: Act): Command {
  const options: Record<string, string> = {};
  const command = new Command('run')
    .description('Submit a batch job. Options after the first word of COMMAND are part of COMMAND.')
    .argument('<command...>', 'command line of each task')
    .passThroughOptions()
    .option('--ntasks <n>', 'number of tasks, with ids 0 to n-1 (also --n-tasks)', parseCount)
    .option('--array <ids>', 'ids of the tasks, e.g. 2,4-6,8-10 or 0-10:2; 0-99%10 runs at most ten at a time')
    .option('-N, --max-workers <n>', 'maximum number of instances; -1 means no limit', parseCount)
    .option('--task-on-scheduler', 'the head instance runs the task of the lowest id, and no other')
    .option('--no-task-on-scheduler', 'the head instance runs no task')
    .option('--scheduler-task-array <ids>', 'the head instance runs these tasks, and no others')
    .option(
      '--wait-for-ready-cluster',
      'start no task before all instances are ready; end the job if one is unavailable',
    )
    .option(
      '-e, --env <KEY=val>',
      'environment variable of tasks (repeatable); KEY alone takes the value from your environment',
      collect,
    )
    .option(
      '--secret-env <KEY=val>',
      'like --env, for secrets: stored encrypted until the job has ended (repeatable)',
      collect,
    )
    .option('--env-file <path>', 'file of environment variables in .env format (repeatable)', collect)
    .option('--secret-env-file <path>', 'like --env-file, for secrets (repeatable)', collect)
    .option(
      '--forward-aws-credentials',
      'give tasks a session of your AWS credentials; it is not renewed when it expires',
    )
    .option('--name <name>', 'name of the job')
    .option('--get-or-create', 'return the open job of that name, if there is one')
    .option('--after <jobs>', 'start after these jobs have ended, e.g. 12,13 (repeatable)', parseNumbers)
    .option(
      '--after-ok <jobs>',
      'start after these jobs have succeeded; be cancelled if one of them does not',
      parseNumbers,
    )
    .option('--priority <n>', 'wait for room in the quota; of waiting jobs the highest number starts first', parseCount)
    .option('--retries <n>', 'number of retries of a failed task (also --max-retries)', parseCount)
    .option('--retry-on-exit <rules>', 'retry only these exit codes, ranges, or signal: 75,100-120,signal')
    .option('--task-timeout <duration>', 'end a task that runs longer: TERM, 10 s later KILL; exit code 124')
    .option('--job-timeout <duration>', 'end the job this long after its start, e.g. "1 hour"')
    .option('--max-cost <dollars>', 'end the job when its instances have cost this much, in US dollars', parseDollars)
    .option('--lease <duration>', 'check an instance that has not reported for this long, e.g. "2 minutes"')
    .option(
      '--watchdog-timeout <duration>',
      'an instance ends itself after this long without an answer from the API (default: 30 minutes)',
    )
    .option('--private-to-creator', 'hide the output of tasks from other users')
    .option(
      '--upload <path>',
      "file, or directory whose content is put into the tasks' working directory (repeatable)",
      collect,
    )
    .option('--no-implicit-file-upload', 'do not send the files that scripts of COMMAND name in their lines')
    .option(
      '--scheduler-sidecar-spec <path>',
      'file (.yaml or .json) of containers that run on the head instance until the job has ended',
    )
    .option('--run-on-host <yes>', 'true: on the instance itself, also where the script names a container')
    .option(
      '--download <directory>',
      'keep the files that tasks leave; with --wait, download them into this directory',
      parsePath,
    )
    .option('--sync <directory>', '--upload and --download of the same directory', parsePath)
    .option('--pipe-to-files', 'also store the output of tasks as files: task-ID.out and task-ID.err')
    .option('--input-filestore <name>', 'give tasks the files of this filestore, to which --upload adds')
    .option('--output-filestore <name>', 'keep the files that tasks leave in this filestore')
    .option('--command-on-instance', 'COMMAND begins with the path of a file that only the instances have')
    .addOption(new Option('--plan', 'print the planned instances and their price; launch nothing').conflicts('wait'))
    .option('--wait', 'wait until the job has ended; exit code 1 unless every task is done')
    .addHelpText('after', help);
  for (const alias of ['--n-tasks <n>', '--max-retries <n>'])
    command.addOption(command.createOption(alias).argParser(parseCount).hideHelp());
  withMapOver(command);
  withContainer(command, 'the tasks');
  withPackageSync(command);
  withCoiledOptions(command, (name, value) => {
    options[name] = value;
  });
  return withFormat(withConnection(withJobMachines(withSoftware(command, "the tasks' Python environment")))).action(
    async (given: string[], flags: RunFlags) => {
      const words = await commandWords(given, flags, context);
      const known = new Set(command.options.flatMap(({ long }) => long ?? []));
      const misplaced = describeMisplaced(words, known);
      if (misplaced !== null) context.output.err(`note: ${misplaced}`);
      await act(words, flags, options);
    },
  );
}

async function run(
  context: CliContext,
  words: string[],
  given: RunFlags,
  options: Record<string, string>,
): Promise<number> {
  const { output } = context;
  const flags = await withHeader(context, words, given);
  const client = await connect(context, flags);
  const sync = flags.plan === true ? null : await syncOf(context, words, flags);
  const { input, ...large } = await inputOf(context, words, flags, options);
  if (flags.plan === true) {
    showPlan(context, flags, await client.jobs.plan(input), 'head');
    return exitCodes.ok;
  }
  const into = flags.wait === true ? (flags.download ?? flags.sync) : undefined;
  await prepareDownload(context, into);
  let number: number | null = null;
  const describe = (): string =>
    number === null ? 'Interrupted. The job may have been submitted: see ropewalk batch list' : detachedFromJob(number);
  return untilInterrupted(describe, async (signal) => {
    const inputFiles = await storeInputs(context, flags, { client, ...large, signal });
    const software = sync === null ? undefined : await syncedSoftware(context, client, sync, { words, signal });
    const synced = software === undefined ? {} : { software };
    const secrets = await secretsOf(context, flags, input);
    const created = await client.jobs.create({ ...input, ...inputFiles, ...synced, ...secrets }, { signal });
    number = created.number;
    for (const warning of created.warnings) output.err(`warning: ${warning}`);
    if (flags.wait === true) {
      output.err(`Job ${number} (${created.name}) ${created.existing ? 'exists already' : 'submitted'}`);
      const exitCode = await watchJob(client, number, context, flags, signal);
      if (into !== undefined) await downloadJobFiles(context, flags, { client, number, into, signal });
      return exitCode;
    }
    if (flags.format === 'json') output.json(created);
    else output.out(`Job ${number} (${created.name}) ${created.existing ? 'exists already' : 'submitted'}`);
    if (created.pricePerHour !== undefined) output.err(`Price:       ${formatPrice(created.pricePerHour)}`);
    output.err(`Wait for it: ropewalk batch wait ${number}\nIts output:  ropewalk batch logs ${number} --follow`);
    return exitCodes.ok;
  });
}

async function inputOf(
  context: CliContext,
  words: string[],
  flags: AllFlags,
  options: Record<string, string>,
): Promise<{ input: CreateJob; stored: Found[]; list: Buffer | undefined }> {
  const env = await readEnvironment('--env', flags.env ?? [], flags.envFile ?? [], context);
  const secretEnv = await readEnvironment('--secret-env', flags.secretEnv ?? [], flags.secretEnvFile ?? [], context);
  const note = (text: string): void => context.output.err(`note: ${text}`);
  const { mapOver, list } = await mapOverOf(context, words, flags);
  if (list !== undefined) note(storedListNote);
  const python = pythonPathOf(flags) === undefined ? flags.python : undefined;
  const software = await softwareOf(context, { ...flags, python });
  const storeAll = flags.inputFilestore !== undefined;
  const searchScripts = flags.implicitFileUpload !== false;
  const collecting = { note, storeAll, searchScripts };
  const { files, stored, command } = await collectFiles(words, flags.upload ?? [], context, collecting);
  const sent = [...files, ...stored].map(({ path }) => path);
  await checkCommandPath(words, sent, context, flags);
  const {
    name,
    getOrCreate,
    ntasks = flags.nTasks,
    array,
    maxWorkers,
    retries = flags.maxRetries,
    jobTimeout,
    lease,
  } = flags;
  const input: CreateJob = {
    command,
    ...(files.length > 0 && { files }),
    ...(software !== undefined && { software }),
    ...softwareNameOf(flags),
    ...(await containerOf(context, flags)),
    ...(flags.runOnHost !== undefined && { runOnHost: saysYes('--run-on-host', flags.runOnHost) }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(Object.keys(secretEnv).length > 0 && { secretEnv }),
    ...(Object.keys(options).length > 0 && { options }),
    ...(name !== undefined && { name }),
    ...(getOrCreate === true && { getOrCreate }),
    ...(ntasks !== undefined && { ntasks }),
    ...(array !== undefined && { array }),
    ...(mapOver !== undefined && { mapOver }),
    ...(flags.clientOptions.length > 0 && { clientOptions: flags.clientOptions }),
    ...(maxWorkers !== undefined && { maxWorkers }),
    ...(flags.taskOnScheduler !== undefined && { taskOnScheduler: flags.taskOnScheduler }),
    ...(flags.schedulerTaskArray !== undefined && { schedulerTaskArray: flags.schedulerTaskArray }),
    ...(await sidecarsOf(context, flags)),
    ...(flags.waitForReadyCluster === true && { waitForReadyCluster: true }),
    ...(flags.after !== undefined && { after: flags.after }),
    ...(flags.afterOk !== undefined && { afterOk: flags.afterOk }),
    ...(flags.priority !== undefined && { priority: flags.priority }),
    ...(retries !== undefined && { retries }),
    ...(flags.retryOnExit !== undefined && { retryOnExit: flags.retryOnExit }),
    ...(flags.taskTimeout !== undefined && { taskTimeout: flags.taskTimeout }),
    ...(jobTimeout !== undefined && { jobTimeout }),
    ...(flags.maxCost !== undefined && { maxCost: flags.maxCost }),
    ...(lease !== undefined && { lease }),
    ...(flags.watchdogTimeout !== undefined && { watchdogTimeout: flags.watchdogTimeout }),
    ...(flags.privateToCreator === true && { privateToCreator: true }),
    ...((flags.download ?? flags.sync) !== undefined && { storeFiles: true }),
    ...(flags.pipeToFiles === true && { pipeToFiles: true }),
    ...(flags.inputFilestore !== undefined && { inputFilestore: flags.inputFilestore }),
    ...(flags.outputFilestore !== undefined && { outputFilestore: flags.outputFilestore }),
    ...jobMachinesOf(flags),
  };
  return { input, stored, list };
}

/** The secret variables, with a session of the user's AWS credentials, created last because its lifetime starts then. */
async function secretsOf(
  context: CliContext,
  flags: AllFlags,
  { env, secretEnv = {} }: CreateJob,
): Promise<Pick<CreateJob, 'secretEnv'>> {
  if (flags.forwardAwsCredentials !== true) return {};
  refuseOwnCredentials({ ...env, ...secretEnv });
  const session = await readAwsSession(context);
  context.output.err(`note: ${describeSession(session)}`);
  return { secretEnv: { ...secretEnv, ...session.variables } };
}
