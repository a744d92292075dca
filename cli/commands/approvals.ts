// `ropewalk approvals`, `approve N`, `reject N`, and `workspace approval`: approvals before spend.
import { Command } from 'commander';

import type { Approval, ApprovalRule, PutApprovalRule } from '../../sdk/client.ts';
import { parseDollars, parseNumber } from '../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../context.ts';
import { connect, withConnection, withFormat } from '../context.ts';
import { formatDollars } from '../dollars.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { show } from '../people.ts';
import { formatTable, type Column } from '../table.ts';
import { formatTime } from '../times.ts';

type Flags = ConnectionFlags & FormatFlag;

export function approvalsCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('approvals')
    .description('List the jobs and clusters that wait for the approval of an admin.')
    .option('--all', 'those that were decided too');
  return withFormat(withConnection(command)).action(async (flags: Flags & { all?: true }) => {
    const client = await connect(context, flags);
    show(context, flags, await client.approvals.list({ all: flags.all === true }), formatApprovals);
    finish(exitCodes.ok);
  });
}

export const approveCommand = (context: CliContext, finish: Finish): Command =>
  decideCommand(context, finish, {
    verb: 'approve',
    description: 'Let a job or cluster start that waits for an approval; for admins.',
  });

export const rejectCommand = (context: CliContext, finish: Finish): Command =>
  decideCommand(context, finish, {
    verb: 'reject',
    description: 'End a job or cluster that waits for an approval, without a start; for admins.',
  });

function decideCommand(
  context: CliContext,
  finish: Finish,
  { verb, description }: { verb: 'approve' | 'reject'; description: string },
): Command {
  const command = new Command(verb)
    .description(description)
    .argument('<number>', 'number of the job or cluster', parseNumber)
    .option('--comment <text>', 'why; shown with the decision');
  return withFormat(withConnection(command)).action(async (number: number, flags: Flags & { comment?: string }) => {
    const client = await connect(context, flags);
    const options = flags.comment === undefined ? {} : { comment: flags.comment };
    const decided = await client.approvals[verb](number, options);
    show(context, flags, decided, ({ kind, name, state }) => `The ${kind} ${number} (${name}) is ${state}`);
    finish(exitCodes.ok);
  });
}

interface RuleFlags extends Flags {
  perHour?: number;
  total?: number;
  allowOwn?: true;
  timeout?: string;
  off?: true;
}

export function approvalRuleCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('approval')
    .description(
      'Show above which cost jobs and clusters wait for an approval; with options, replace that, as an admin.',
    )
    .option(
      '--per-hour <dollars>',
      'threshold of cost per hour, in US dollars: above it an approval is needed',
      parseDollars,
    )
    .option(
      '--total <dollars>',
      'threshold of total cost, in US dollars: above it, or without a limit, an approval is needed',
      parseDollars,
    )
    .option('--allow-own', 'admins may approve what they created themselves')
    .option('--timeout <duration>', 'reject after this long without a decision (default: 24h)')
    .option('--off', 'nothing needs an approval');
  return withFormat(withConnection(command)).action(async (flags: RuleFlags) => {
    const change = changeOf(flags);
    const client = await connect(context, flags);
    const rule = change === null ? await client.approvals.rule() : await client.approvals.setRule(change);
    show(context, flags, rule, formatRule);
    finish(exitCodes.ok);
  });
}

function changeOf({ perHour, total, allowOwn, timeout, off }: RuleFlags): PutApprovalRule | null {
  const hasThreshold = perHour !== undefined || total !== undefined;
  if (off === true && hasThreshold) throw new UsageError('--off cannot be combined with --per-hour or --total');
  if (off === true) return {};
  if (hasThreshold) {
    return {
      ...(perHour !== undefined && { dollarsPerHour: perHour }),
      ...(total !== undefined && { dollars: total }),
      ...(allowOwn === true && { allowOwn }),
      ...(timeout !== undefined && { timeout }),
    };
  }
  if (allowOwn === true || timeout !== undefined) {
    throw new UsageError('--allow-own and --timeout need --per-hour or --total: the rule is replaced as a whole');
  }
  return null;
}

const columns: Column[] = [
  { title: 'Number', align: 'right' },
  { title: 'Kind', align: 'left' },
  { title: 'Name', align: 'left' },
  { title: 'User', align: 'left' },
  { title: 'Per Hour', align: 'right' },
  { title: 'Total', align: 'right' },
  { title: 'State', align: 'left' },
  { title: 'By', align: 'left' },
  { title: 'Until', align: 'left' },
];

function formatApprovals(approvals: readonly Approval[]): string {
  if (approvals.length === 0) return 'Nothing waits for an approval.';
  return formatTable(
    columns,
    approvals.map(({ number, kind, name, user, dollarsPerHour, dollars, state, decidedBy, expiresAt }) => [
      ...[String(number), kind, name, user],
      ...[dollarsPerHour === null ? 'unknown' : formatDollars(dollarsPerHour)],
      ...[dollars === null ? 'no limit' : formatDollars(dollars)],
      ...[state, decidedBy ?? '', state === 'pending' ? formatTime(expiresAt) : ''],
    ]),
  );
}

function formatRule({ dollarsPerHour, dollars, allowOwn, timeoutSeconds }: ApprovalRule): string {
  if (timeoutSeconds === null)
    return 'Nothing needs an approval. To change that: ropewalk workspace approval --per-hour 10';
  const above = [
    ...(dollarsPerHour === null ? [] : [`${formatDollars(dollarsPerHour)} an hour`]),
    ...(dollars === null ? [] : [`${formatDollars(dollars)} in total`]),
  ].join(' or ');
  const own = allowOwn ? 'Admins may approve their own.' : 'Admins may not approve their own.';
  return `Jobs and clusters that may cost more than ${above} wait for an admin, at most ${hours(timeoutSeconds)}. ${own}`;
}

const hours = (seconds: number): string => `${Math.round(seconds / 360) / 10} h`;
