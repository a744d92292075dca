// `ropewalk webhook create | list | test | delete | deliveries`, and `ropewalk notifications`.
import { Command, Option } from 'commander';

import type { Client, Delivery, Notification, Webhook } from '../../sdk/client.ts';
import { collect, parseLimit, parseReference, type Reference } from '../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../context.ts';
import { connect, withConnection, withFormat } from '../context.ts';
import { exitCodes } from '../errors.ts';
import { numberOfCluster, numberOfJob, referenceHelp } from '../references.ts';
import { formatTable } from '../table.ts';
import { formatTime } from '../times.ts';

type Flags = ConnectionFlags & FormatFlag;

interface CreateFlags extends Flags {
  event?: string[];
  as?: 'standard' | 'slack' | 'email';
  description?: string;
  job?: Reference;
  cluster?: Reference;
  mayApprove?: boolean;
}

export function createWebhookCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('create')
    .description('Send notifications of the workspace to a URL or an e-mail address. For admins.')
    .argument('<url>', 'HTTPS URL that gets a POST for each notification, or mailto:ada@example.com')
    .option('--event <type>', 'job.failed, job.*, cluster.ready, ... (repeatable; default: all)', collect)
    .addOption(new Option('--as <form>', 'form of the messages').choices(['standard', 'slack', 'email']))
    .option('--description <text>', 'what it is for')
    .option(
      '--may-approve',
      'its receiver may approve and reject what needs an approval, as you, while your token is valid',
    )
    .addOption(
      new Option('--job <job>', `only what is about one job: ${referenceHelp('job')}`).argParser(parseReference),
    )
    .addOption(
      new Option('--cluster <cluster>', `only what is about one cluster: ${referenceHelp('cluster')}`)
        .argParser(parseReference)
        .conflicts('job'),
    );
  return withFormat(withConnection(command)).action(async (url: string, flags: CreateFlags) => {
    const client = await connect(context, flags);
    const { event, as: form, description } = flags;
    const object = await objectOf(client, flags);
    const created = await client.webhooks.create({
      url,
      ...(event !== undefined && { events: event }),
      ...(form !== undefined && { format: form }),
      ...(description !== undefined && { description }),
      ...(object !== null && { object }),
      ...(flags.mayApprove === true && { mayApprove: true }),
    });
    if (flags.format === 'json') context.output.json(created);
    else if (created.format === 'email') context.output.out(`Webhook ${created.id}`);
    else context.output.out(`Webhook ${created.id}\nSecret: ${created.secret}`);
    const once = created.format === 'email' ? '' : 'The secret is shown only now. ';
    context.output.err(`${once}Try it: ropewalk webhook test ${created.id}`);
    finish(exitCodes.ok);
  });
}

async function objectOf(client: Client, { job, cluster }: CreateFlags): Promise<string | null> {
  if (job !== undefined) return `job/${await numberOfJob(client, job)}`;
  return cluster === undefined ? null : `cluster/${await numberOfCluster(client, cluster)}`;
}

export function listWebhooksCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('list').description('List the webhooks of the workspace. Times are local.');
  return withFormat(withConnection(command)).action(async (flags: Flags) => {
    const all = await (await connect(context, flags)).webhooks.list();
    if (flags.format === 'json') context.output.json(all);
    else
      context.output.out(
        formatTable(columns(['ID', 'To', 'Events', 'About', 'Form', 'By', 'Created', 'State']), all.map(rowOf)),
      );
    finish(exitCodes.ok);
  });
}

const columns = (titles: string[]) => titles.map((title) => ({ title, align: 'left' as const }));

const rowOf = ({ id, origin, events, object, mayApprove, format, user, createdAt, disabledAt }: Webhook): string[] => [
  ...[
    id,
    origin,
    events.join(','),
    object ?? 'all',
    mayApprove ? `${format}, approves` : format,
    user,
    formatTime(createdAt),
  ],
  disabledAt === null ? 'enabled' : 'disabled by its receiver',
];

export function testWebhookCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('test')
    .description('Send a test notification to a webhook.')
    .argument('<id>', 'id, wh_...');
  return withConnection(command).action(async (id: string, flags: ConnectionFlags) => {
    const { delivery } = await (await connect(context, flags)).webhooks.test(id);
    context.output.out(`Delivery ${delivery}`);
    context.output.err(`What became of it: ropewalk webhook deliveries ${id}`);
    finish(exitCodes.ok);
  });
}

export function deleteWebhookCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('delete')
    .description('Delete a webhook and its pending deliveries.')
    .argument('<id>', 'id, wh_...');
  return withConnection(command).action(async (id: string, flags: ConnectionFlags) => {
    await (await connect(context, flags)).webhooks.delete(id);
    context.output.out(`Webhook ${id} is deleted`);
    finish(exitCodes.ok);
  });
}

export function deliveriesCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('deliveries')
    .description('List webhook deliveries, newest first. Times are local.')
    .argument('[id]', 'id of a webhook; all without it')
    .option('--limit <n>', 'how many', parseLimit, 20);
  return withFormat(withConnection(command)).action(
    async (id: string | undefined, flags: Flags & { limit: number }) => {
      const client = await connect(context, flags);
      const { items } = await client.webhooks.deliveries({
        limit: flags.limit,
        ...(id !== undefined && { webhook: id }),
      });
      if (flags.format === 'json') context.output.json(items);
      else
        context.output.out(
          formatTable(
            columns(['Delivery', 'Event', 'About', 'State', 'Attempts', 'Answer', 'Last', 'Next']),
            items.map(deliveryRow),
          ),
        );
      finish(exitCodes.ok);
    },
  );
}

const deliveryRow = ({ id, type, object, state, attempts, status, error, at, nextAttemptAt }: Delivery): string[] => [
  ...[String(id), type, object, state, String(attempts), error ?? (status === null ? '' : String(status))],
  ...[formatTime(at), state === 'pending' ? formatTime(nextAttemptAt) : ''],
];

export function notificationsCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('notifications')
    .description('List the notifications of the last 30 days, newest first. Times are local.')
    .option('--limit <n>', 'how many', parseLimit, 20);
  return withFormat(withConnection(command)).action(async (flags: Flags & { limit: number }) => {
    const { items } = await (await connect(context, flags)).webhooks.notifications({ limit: flags.limit });
    if (flags.format === 'json') context.output.json(items);
    else context.output.out(formatTable(columns(['Time', 'Event', 'What']), items.map(notificationRow)));
    finish(exitCodes.ok);
  });
}

const notificationRow = ({ at, type, text }: Notification): string[] => [formatTime(at), type, text];
