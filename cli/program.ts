// The tree of commands. Each command is a file of commands/.
import { Command } from 'commander';

import { approvalRuleCommand, approvalsCommand, approveCommand, rejectCommand } from './commands/approvals.ts';
import { clusterAtCommand, jobAtCommand } from './commands/at.ts';
import { billCommand } from './commands/bill.ts';
import { cancelCommand } from './commands/batch/cancel.ts';
import { filesCommand } from './commands/batch/files.ts';
import { listCommand } from './commands/batch/list.ts';
import { logsCommand } from './commands/batch/logs.ts';
import { retryCommand } from './commands/batch/retry.ts';
import { runCommand } from './commands/batch/run.ts';
import { scheduleCommand } from './commands/batch/schedule.ts';
import { statusCommand } from './commands/batch/status.ts';
import { waitCommand } from './commands/batch/wait.ts';
import { listBudgetsCommand } from './commands/budget/list.ts';
import { removeBudgetCommand } from './commands/budget/remove.ts';
import { setBudgetCommand } from './commands/budget/set.ts';
import { adaptCommand } from './commands/cluster/adapt.ts';
import { createCommand } from './commands/cluster/create.ts';
import { dashboardCommand, jupyterCommand } from './commands/cluster/dashboard.ts';
import { execCommand } from './commands/cluster/exec.ts';
import { getCommand } from './commands/cluster/get.ts';
import { listClustersCommand } from './commands/cluster/list.ts';
import { clusterLogsCommand } from './commands/cluster/logs.ts';
import { scaleCommand } from './commands/cluster/scale.ts';
import { stopCommand } from './commands/cluster/stop.ts';
import { watchCommand } from './commands/cluster/watch.ts';
import { costCommand } from './commands/cost.ts';
import { destroyCommand } from './commands/destroy.ts';
import { devCommand } from './commands/dev.ts';
import { doctorCommand } from './commands/doctor.ts';
import { createEnvironmentCommand } from './commands/env/create.ts';
import { deleteEnvironmentCommand } from './commands/env/delete.ts';
import { inspectEnvironmentCommand } from './commands/env/inspect.ts';
import { listEnvironmentsCommand } from './commands/env/list.ts';
import { environmentLogsCommand } from './commands/env/logs.ts';
import { clusterEventsCommand, jobEventsCommand } from './commands/events.ts';
import { initCommand } from './commands/init.ts';
import { instanceTypesCommand } from './commands/instance-types.ts';
import { loginCommand } from './commands/login.ts';
import { logsCommand as allLogsCommand } from './commands/logs.ts';
import { logoutCommand } from './commands/logout.ts';
import { configCommand, configCommands } from './commands/config.ts';
import { notebookCommand, notebookCommands } from './commands/notebook.ts';
import { pruneCommand } from './commands/prune.ts';
import { reconcileCommand } from './commands/reconcile.ts';
import { setupCommand } from './commands/setup.ts';
import { sweepCommand } from './commands/sweep.ts';
import { createTokenCommand } from './commands/token/create.ts';
import { listTokensCommand } from './commands/token/list.ts';
import { revokeTokenCommand } from './commands/token/revoke.ts';
import { listUsersCommand } from './commands/user/list.ts';
import { removeUserCommand } from './commands/user/remove.ts';
import { setUserCommand } from './commands/user/set.ts';
import { clusterWhyCommand, jobWhyCommand } from './commands/why.ts';
import { whoamiCommand } from './commands/whoami.ts';
import {
  createWebhookCommand,
  deleteWebhookCommand,
  deliveriesCommand,
  listWebhooksCommand,
  notificationsCommand,
  testWebhookCommand,
} from './commands/webhook.ts';
import { createWorkspaceCommand } from './commands/workspace/create.ts';
import { defaultsCommand } from './commands/workspace/defaults.ts';
import { limitsCommand } from './commands/workspace/limits.ts';
import { listWorkspacesCommand } from './commands/workspace/list.ts';
import type { CliContext, Finish } from './context.ts';
import { version } from './version.ts';

export interface Program {
  program: Command;
  /** The exit code of the command, once parseAsync has resolved. */
  exitCode: () => number;
}

type CreateCommand = (context: CliContext, finish: Finish) => Command;

const batchCommands: CreateCommand[] = [
  runCommand,
  statusCommand,
  listCommand,
  waitCommand,
  logsCommand,
  jobEventsCommand,
  jobWhyCommand,
  jobAtCommand,
  filesCommand,
  cancelCommand,
  retryCommand,
  scheduleCommand,
];
const clusterCommands: CreateCommand[] = [
  createCommand,
  listClustersCommand,
  getCommand,
  watchCommand,
  scaleCommand,
  adaptCommand,
  execCommand,
  clusterLogsCommand,
  clusterEventsCommand,
  clusterWhyCommand,
  clusterAtCommand,
  dashboardCommand,
  jupyterCommand,
  stopCommand,
];
const budgetCommands: CreateCommand[] = [setBudgetCommand, listBudgetsCommand, removeBudgetCommand];
const tokenCommands: CreateCommand[] = [createTokenCommand, listTokensCommand, revokeTokenCommand];
const userCommands: CreateCommand[] = [listUsersCommand, setUserCommand, removeUserCommand];
const environmentCommands: CreateCommand[] = [
  createEnvironmentCommand,
  listEnvironmentsCommand,
  inspectEnvironmentCommand,
  environmentLogsCommand,
  deleteEnvironmentCommand,
];
const webhookCommands: CreateCommand[] = [
  createWebhookCommand,
  listWebhooksCommand,
  testWebhookCommand,
  deleteWebhookCommand,
  deliveriesCommand,
];
const workspaceCommands: CreateCommand[] = [
  limitsCommand,
  approvalRuleCommand,
  defaultsCommand,
  listWorkspacesCommand,
  createWorkspaceCommand,
];

export function createProgram(context: CliContext): Program {
  let code = 0;
  const finish = (result: number): void => {
    code = result;
  };
  const group = (name: string, description: string, commands: readonly CreateCommand[]): Command => {
    const parent = new Command(name).description(description).enablePositionalOptions();
    for (const create of commands) parent.addCommand(create(context, finish));
    return parent;
  };
  const batch = group('batch', 'Batch jobs: one command, run as many tasks on many instances.', batchCommands);
  const cluster = group(
    'cluster',
    'Dask clusters: a scheduler and workers that run independently of your terminal.',
    clusterCommands,
  );
  const budget = group(
    'budget',
    'Budgets of the workspace, its users, clusters and jobs: they warn, refuse launches, or stop.',
    budgetCommands,
  );
  const env = group('env', 'Named environments, for --software of clusters and jobs.', environmentCommands);
  const token = group('token', 'Tokens, with which programs and machines sign in.', tokenCommands);
  const user = group('user', 'Users of a workspace, their roles and limits.', userCommands);
  const webhook = group('webhook', 'Webhooks: notifications of the workspace, sent to a URL.', webhookCommands);
  const workspace = group(
    'workspace',
    'Limits and usage of the workspace; for operators, all workspaces.',
    workspaceCommands,
  );
  const notebook = group(
    'notebook',
    'Jupyter on an instance, with your environment, and your files in both directions.',
    notebookCommands.map((name) => () => notebookCommand(name)),
  );
  const config = group(
    'config',
    "Defaults of ropewalk.Cluster, in Dask's configuration.",
    configCommands.map((name) => () => configCommand(name)),
  );
  const program = new Command('ropewalk')
    .description('Durable batch jobs and Dask clusters on your own VMs.')
    .version(version)
    .enablePositionalOptions()
    .addCommand(batch)
    .addCommand(cluster)
    .addCommand(notebook)
    .addCommand(env)
    .addCommand(config)
    .addCommand(costCommand(context, finish))
    .addCommand(budget)
    .addCommand(approvalsCommand(context, finish))
    .addCommand(approveCommand(context, finish))
    .addCommand(rejectCommand(context, finish))
    .addCommand(instanceTypesCommand(context, finish))
    .addCommand(allLogsCommand(context, finish))
    .addCommand(loginCommand(context, finish))
    .addCommand(logoutCommand(context, finish))
    .addCommand(whoamiCommand(context, finish))
    .addCommand(token)
    .addCommand(user)
    .addCommand(webhook)
    .addCommand(notificationsCommand(context, finish))
    .addCommand(workspace)
    .addCommand(devCommand(finish))
    .addCommand(doctorCommand(context, finish))
    .addCommand(setupCommand(context, finish))
    .addCommand(initCommand(context, finish))
    .addCommand(reconcileCommand(context, finish))
    .addCommand(billCommand(context, finish))
    .addCommand(sweepCommand(context, finish))
    .addCommand(pruneCommand(context, finish))
    .addCommand(destroyCommand(context, finish));
  for (const command of [program, ...allBelow(program)]) configure(command, context);
  return { program, exitCode: () => code };
}

const allBelow = (parent: Command): Command[] => parent.commands.flatMap((child) => [child, ...allBelow(child)]);

/** Prevents Commander from exiting the process; its settings do not apply to subcommands that are added as objects. */
function configure(command: Command, { output }: CliContext): void {
  command
    .exitOverride()
    .showHelpAfterError('(see --help)')
    .configureOutput({
      writeOut: (text) => output.out(text.trimEnd()),
      writeErr: (text) => output.err(text.trimEnd()),
    });
}
