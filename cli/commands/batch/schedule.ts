// `ropewalk batch schedule create | list | show | pause | resume | trigger | delete`.
import { Command, Option } from 'commander';

import type { CreateJob, Schedule } from '../../../sdk/client.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { formatTable } from '../../table.ts';
import { formatTime } from '../../times.ts';
import { readJob } from './run.ts';

type Flags = ConnectionFlags & FormatFlag;

interface CreateFlags extends Flags {
  cron: string;
  timezone?: string;
  overlap?: 'skip' | 'allow' | 'queue' | 'cancel';
}

export function scheduleCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('schedule')
    .description('Jobs that run at the times of a cron expression.')
    .enablePositionalOptions()
    .addCommand(createCommand(context, finish), { isDefault: true })
    .addCommand(listCommand(context, finish))
    .addCommand(showCommand(context, finish));
  for (const [verb, description] of verbs) command.addCommand(actCommand(context, finish, { verb, description }));
  return command;
}

function createCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('create')
    .description('Create a schedule: ropewalk batch schedule --cron "0 3 * * *" NAME -- OPTIONS COMMAND of batch run')
    .argument('<name>', 'name of the schedule')
    .argument('<run...>', 'options and command, as of ropewalk batch run, after --')
    .passThroughOptions()
    .requiredOption('--cron <fields>', 'minute, hour, day of the month, month, day of the week; or @daily, ...')
    .option('--timezone <name>', 'time zone of the cron fields, e.g. Europe/Berlin (default: UTC)')
    .addOption(
      new Option(
        '--overlap <what>',
        'while the job of an earlier run is open: leave this run out, run both, start after it, or cancel it',
      )
        .choices(['skip', 'allow', 'queue', 'cancel'])
        .default('skip'),
    );
  return withFormat(withConnection(command)).action(async (name: string, run: string[], flags: CreateFlags) => {
    const client = await connect(context, flags);
    const words = run[0] === '--' ? run.slice(1) : run;
    if (words.length === 0) throw new UsageError('Give the command of the job after --.');
    const job: CreateJob = await readJob(context, words, client);
    const { cron, timezone, overlap } = flags;
    const made = await client.schedules.create({
      ...{ name, cron, job },
      ...(timezone !== undefined && { timezone }),
      ...(overlap !== undefined && { overlap }),
    });
    if (flags.format === 'json') context.output.json(made);
    else context.output.out(`Schedule ${name} runs ${made.command} at ${made.cron} (${made.timezone})`);
    context.output.err(`Its next runs: ropewalk batch schedule show ${name}`);
    finish(exitCodes.ok);
  });
}

function listCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('list').description('List the schedules of the workspace.');
  return withFormat(withConnection(command)).action(async (flags: Flags) => {
    const all = await (await connect(context, flags)).schedules.list();
    if (flags.format === 'json') context.output.json(all);
    else
      context.output.out(
        formatTable(columns(['Name', 'State', 'Cron', 'Time zone', 'Last job', 'By', 'Command']), all.map(rowOf)),
      );
    finish(exitCodes.ok);
  });
}

const columns = (titles: string[]) => titles.map((title) => ({ title, align: 'left' as const }));

const rowOf = ({ name, state, cron, timezone, lastJob, user, command }: Schedule): string[] => [
  ...[name, state, cron, timezone, lastJob === null ? '' : String(lastJob), user, command],
];

function showCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('show')
    .description('Next and last runs of a schedule. Times are local.')
    .argument('<name>');
  return withFormat(withConnection(command)).action(async (name: string, flags: Flags) => {
    const found = await (await connect(context, flags)).schedules.get(name);
    if (flags.format === 'json') {
      context.output.json(found);
      finish(exitCodes.ok);
      return;
    }
    const why = found.reason === null ? '' : `: ${found.reason}`;
    const next = found.nextRuns.map((at) => formatTime(at)).join(', ');
    context.output.out(
      `${found.name}: ${found.state}${why}\n${found.cron} (${found.timezone}), ${found.command}\nNext: ${next === '' ? 'none' : next}\n`,
    );
    const rows = found.runs.map(({ at, state, job, text }) => [
      formatTime(at),
      state,
      job === null ? '' : String(job),
      text ?? '',
    ]);
    context.output.out(formatTable(columns(['Run', 'State', 'Job', 'Why']), rows));
    finish(exitCodes.ok);
  });
}

type Verb = 'pause' | 'resume' | 'trigger' | 'delete';
const verbs: [Verb, string][] = [
  ['pause', 'Run no more jobs for now.'],
  ['resume', 'Go on after a pause, or after it has stopped by itself.'],
  ['trigger', 'Run it now, paused or not.'],
  ['delete', 'Delete a schedule. Jobs that it has started go on.'],
];
const done: Record<Verb, string> = { pause: 'is paused', resume: 'goes on', trigger: 'runs now', delete: 'is deleted' };

function actCommand(
  context: CliContext,
  finish: Finish,
  { verb, description }: { verb: Verb; description: string },
): Command {
  const command = new Command(verb).description(description).argument('<name>');
  return withConnection(command).action(async (name: string, flags: ConnectionFlags) => {
    const client = await connect(context, flags);
    const { acceptedForLater } = await client.schedules[verb](name);
    context.output.out(`Schedule ${name} ${done[verb]}`);
    if (acceptedForLater === true)
      context.output.err('Temporal is unavailable: it takes effect when it is available again.');
    finish(exitCodes.ok);
  });
}
