// `ropewalk batch run`: submits a job. The server reads the script's header; this command only sends words and files.
import { Command, Option } from 'commander';

import type { CreateJob } from '../../../sdk/client.ts';
import { collect, parseCount } from '../../arguments.ts';
import { withCoiledOptions } from '../../coiled-options.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { readEnvironment } from '../../environment.ts';
import { exitCodes } from '../../errors.ts';
import { collectFiles } from '../../files.ts';
import { untilInterrupted } from '../../interrupt.ts';
import type { JobMachineFlags } from '../../machines.ts';
import { jobMachinesOf, withJobMachines } from '../../machines.ts';
import { formatPrice, showPlan } from '../../plan.ts';
import type { SoftwareFlags } from '../../software.ts';
import { softwareOf, withSoftware } from '../../software.ts';
import { detachedFromJob, watchJob } from '../../watch.ts';

interface RunFlags extends ConnectionFlags, FormatFlag, JobMachineFlags, SoftwareFlags {
  name?: string;
  getOrCreate?: boolean;
  ntasks?: number;
  nTasks?: number;
  array?: string;
  maxWorkers?: number;
  retries?: number;
  jobTimeout?: string;
  lease?: string;
  watchdogTimeout?: string;
  privateToCreator?: boolean;
  env?: string[];
  secretEnv?: string[];
  envFile?: string[];
  secretEnvFile?: string[];
  upload?: string[];
  plan?: boolean;
  wait?: boolean;
}

const help = `
Words of COMMAND that name files below the current directory, of at most 1 MiB
each, are sent with the job under that path. A script that COMMAND names by an
absolute path, ~/ or ../ is sent under its name; other such paths mean files of
the instance. Each task runs in its own directory, with ROPEWALK_BATCH_TASK_ID
(and COILED_BATCH_TASK_ID) in its environment. Options can also be written in
the script: # ROPEWALK ntasks 10

  ropewalk batch run --ntasks 10 my_script.sh
  ropewalk batch run --array 0-10:2 --wait python3 my_script.py --fast`;

export function runCommand(context: CliContext, finish: Finish): Command {
  const options: Record<string, string> = {};
  const command = new Command('run')
    .description('Submit a batch job. Options after the first word of COMMAND are part of COMMAND.')
    .argument('<command...>', 'command line of each task')
    .passThroughOptions()
    .option('--ntasks <n>', 'number of tasks, with ids 0 to n-1 (also --n-tasks)', parseCount)
    .option('--array <ids>', 'ids of the tasks, e.g. 2,4-6,8-10 or 0-10:2')
    .option('-N, --max-workers <n>', 'maximum number of instances; -1 means no limit', parseCount)
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
    .option('--name <name>', 'name of the job')
    .option('--get-or-create', 'return the open job of that name, if there is one')
    .option('--retries <n>', 'number of retries of a failed task', parseCount)
    .option('--job-timeout <duration>', 'end the job this long after its start, e.g. "1 hour"')
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
    .addOption(new Option('--plan', 'print what would be launched and its price; launch nothing').conflicts('wait'))
    .option('--wait', 'wait until the job has ended; exit code 1 unless every task is done')
    .addHelpText('after', help);
  command.addOption(command.createOption('--n-tasks <n>').argParser(parseCount).hideHelp());
  withCoiledOptions(command, (name, value) => {
    options[name] = value;
  });
  return withFormat(withConnection(withJobMachines(withSoftware(command, "the tasks' Python environment")))).action(
    async (words: string[], flags: RunFlags) => {
      finish(await run(context, words, flags, options));
    },
  );
}

async function run(
  context: CliContext,
  words: string[],
  flags: RunFlags,
  options: Record<string, string>,
): Promise<number> {
  const { output } = context;
  const client = await connect(context, flags);
  const input = await inputOf(context, words, flags, options);
  if (flags.plan === true) {
    showPlan(context, flags, await client.jobs.plan(input), 'head');
    return exitCodes.ok;
  }
  let number: number | null = null;
  const describe = (): string =>
    number === null ? 'Interrupted. The job may have been submitted: see ropewalk batch list' : detachedFromJob(number);
  return untilInterrupted(describe, async (signal) => {
    const created = await client.jobs.create(input, { signal });
    number = created.number;
    for (const warning of created.warnings) output.err(`warning: ${warning}`);
    if (flags.wait === true) {
      output.err(`Job ${number} (${created.name}) ${created.existing ? 'exists already' : 'submitted'}`);
      return watchJob(client, number, context, flags, signal);
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
  flags: RunFlags,
  options: Record<string, string>,
): Promise<CreateJob> {
  const env = await readEnvironment('--env', flags.env ?? [], flags.envFile ?? [], context);
  const secretEnv = await readEnvironment('--secret-env', flags.secretEnv ?? [], flags.secretEnvFile ?? [], context);
  const note = (text: string): void => context.output.err(`note: ${text}`);
  const software = await softwareOf(context, flags);
  const { files, command } = await collectFiles(words, flags.upload ?? [], context, note);
  const { name, getOrCreate, ntasks = flags.nTasks, array, maxWorkers, retries, jobTimeout, lease } = flags;
  return {
    command,
    ...(files.length > 0 && { files }),
    ...(software !== undefined && { software }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(Object.keys(secretEnv).length > 0 && { secretEnv }),
    ...(Object.keys(options).length > 0 && { options }),
    ...(name !== undefined && { name }),
    ...(getOrCreate === true && { getOrCreate }),
    ...(ntasks !== undefined && { ntasks }),
    ...(array !== undefined && { array }),
    ...(maxWorkers !== undefined && { maxWorkers }),
    ...(retries !== undefined && { retries }),
    ...(jobTimeout !== undefined && { jobTimeout }),
    ...(lease !== undefined && { lease }),
    ...(flags.watchdogTimeout !== undefined && { watchdogTimeout: flags.watchdogTimeout }),
    ...(flags.privateToCreator === true && { privateToCreator: true }),
    ...jobMachinesOf(flags),
  };
}
