// A task's environment. Tasks see what the job asked for and who they are; nothing of the agent's own credentials.
import type { ExchangeAnswerBody, RegisterAnswer } from '../../schema/agent.ts';
import type { Grant } from './exchange-state.ts';

export interface TaskEnvironmentInput {
  instance: string;
  address: string;
  /** PATH, HOME, LANG and TMPDIR as the agent has them; the job's own values win. */
  base: Record<string, string | undefined>;
  job: Record<string, string>;
  registered: Pick<RegisterAnswer, 'cluster' | 'role' | 'schedulerAddress'>;
  grant: Grant;
  answer: Pick<ExchangeAnswerBody, 'taskCount' | 'schedulerAddress' | 'readyWorkers'>;
}

export function taskEnvironment(input: TaskEnvironmentInput): Record<string, string> {
  const { instance, address, base, job, registered, grant, answer } = input;
  const isHead = registered.role === 'head';
  const scheduler = answer.schedulerAddress ?? registered.schedulerAddress ?? (isHead ? address : '');
  const facts: Record<string, string> = {
    BATCH_TASK_ID: String(grant.taskId),
    ARRAY_TASK_ID: String(grant.taskId),
    BATCH_TASK_COUNT: String(answer.taskCount),
    BATCH_LOCAL_ADDRESS: address,
    BATCH_SCHEDULER_ADDRESS: scheduler,
    BATCH_PROCESS_TYPE: isHead ? 'scheduler' : 'worker',
    BATCH_READY_WORKERS: answer.readyWorkers.join(','),
    CLUSTER_ID: String(registered.cluster.number),
    CLUSTER_NAME: registered.cluster.name,
    CLUSTER_HOSTNAME: scheduler,
  };
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(base)) if (value !== undefined) env[name] = value;
  Object.assign(env, job);
  // What says who the task is wins over the job's own: others rely on it, and so does ending the instance.
  for (const prefix of ['COILED', 'ROPEWALK']) {
    for (const [name, value] of Object.entries(facts)) env[`${prefix}_${name}`] = value;
  }
  env['ROPEWALK_TASK_ATTEMPT'] = String(grant.attempt);
  env['ROPEWALK_INSTANCE'] = instance;
  return env;
}
