// A task's environment variables: the job's own, and facts about the task; none of the agent's credentials.
import type { Bundle, ExchangeAnswerBody, RegisterAnswer } from '../../schema/agent.ts';
import type { Grant } from './exchange-state.ts';

export interface TaskEnvironmentInput {
  instance: string;
  address: string;
  /** The runtime's variables, with the job's own. */
  variables: Record<string, string>;
  /** The variables of its input. */
  inputs: Record<string, string>;
  taskCount: Bundle['taskCount'];
  registered: Pick<RegisterAnswer, 'cluster' | 'role' | 'schedulerAddress'>;
  grant: Grant;
  answer: Pick<ExchangeAnswerBody, 'taskCount' | 'schedulerAddress' | 'schedulerHostname' | 'readyWorkers'>;
}

export function taskEnvironment(input: TaskEnvironmentInput): Record<string, string> {
  const { instance, address, variables, inputs, registered, grant, answer } = input;
  const isHead = registered.role === 'head';
  const scheduler = answer.schedulerAddress ?? registered.schedulerAddress ?? (isHead ? address : '');
  const facts: Record<string, string> = {
    BATCH_TASK_ID: String(grant.taskId),
    ARRAY_TASK_ID: String(grant.taskId),
    BATCH_TASK_COUNT: String(input.taskCount ?? answer.taskCount),
    BATCH_LOCAL_ADDRESS: address,
    BATCH_SCHEDULER_ADDRESS: scheduler,
    BATCH_PROCESS_TYPE: isHead ? 'scheduler' : 'worker',
    BATCH_READY_WORKERS: answer.readyWorkers.join(','),
    CLUSTER_ID: String(registered.cluster.number),
    CLUSTER_NAME: registered.cluster.name,
    CLUSTER_HOSTNAME: answer.schedulerHostname ?? scheduler,
    INSTANCE_ID: instance,
    WORKSPACE_SLUG: registered.cluster.workspace,
  };
  const env = { ...variables, ...inputs };
  // The facts override the job's own values: termination of the instance relies on them.
  for (const prefix of ['COILED', 'ROPEWALK']) {
    for (const [name, value] of Object.entries(facts)) env[`${prefix}_${name}`] = value;
  }
  env['ROPEWALK_TASK_ATTEMPT'] = String(grant.attempt);
  env['ROPEWALK_INSTANCE'] = instance;
  return env;
}
