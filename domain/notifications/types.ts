// What a workspace is notified of: kept as a list, and sent to its webhooks.
import { idleGpusText, type IdleGpus } from '../gpu-use.ts';
import type { Reason } from '../reason.ts';
import { timeText } from '../why.ts';

/** `noun.verb`. A new one needs no more than its line here and a caller that adds it. */
export const notificationTypes = [
  'job.finished',
  'job.failed',
  'job.cancelled',
  'cluster.ready',
  'cluster.ended',
  'cluster.failed',
  'cluster.idle',
  'cluster.idle_gpu',
  'schedule.stopped',
  'budget.warning',
  'budget.exceeded',
  'approval.requested',
  'approval.approved',
  'approval.rejected',
  'approval.expired',
  'webhook.test',
] as const;
export type NotificationType = (typeof notificationTypes)[number];

export interface NewNotification {
  workspace: string;
  type: NotificationType;
  /** What it is about, e.g. `job/12`: a webhook gets the notifications of one object in their order. */
  object: string;
  /** A sentence for people. */
  text: string;
  /** For programs; plain JSON, without secrets. */
  data: Record<string, unknown>;
  /** At most one notification of a workspace has this; absent: each is one of its own. */
  once?: string;
}

/** Days a notification and its deliveries are kept. */
export const notificationsKeptMs = 30 * 86_400_000;

/** `*`, a noun with all its verbs (`job.*`), or a type. */
export const eventPatterns: readonly string[] = [
  '*',
  ...new Set(notificationTypes.map((type) => `${type.split('.')[0]}.*`)),
  ...notificationTypes,
];

export const isSubscribed = (patterns: readonly string[], type: NotificationType): boolean =>
  patterns.some((each) => each === '*' || each === type || (each.endsWith('.*') && type.startsWith(each.slice(0, -1))));

/** A webhook of one object gets what is about that object alone; the cluster of a job's instances has the job's number. */
export const isAbout = (object: string | null, about: string): boolean =>
  object === null || about === object || about === object.replace(/^job\//, 'cluster/');

/** A job or cluster, as far as a notification of its state needs it. */
export interface Subject {
  kind: 'job' | 'cluster';
  number: number;
  workspace: string;
  name: string;
  user: string;
  status: string;
  reason: Pick<Reason, 'code' | 'text'> | null;
  tasks?: { total: number; done: number; error: number; cancelled: number };
}

/** Once for each cluster, at the first GPU that does nothing. */
export function idleGpuNotification(
  { number, workspace, name, user }: Pick<Subject, 'number' | 'workspace' | 'name' | 'user'>,
  gpus: IdleGpus,
): NewNotification {
  const object = `cluster/${number}`;
  const { idle, total, sinceMs } = gpus;
  return {
    ...{ workspace, object, type: 'cluster.idle_gpu' },
    text: `Cluster ${number} (${name}) pays for GPUs that it does not use: ${idleGpusText(gpus)} for long`,
    data: {
      ...{ cluster: number, name, workspace, user, idle, total },
      idleSince: sinceMs === null ? null : new Date(sinceMs).toISOString(),
    },
    once: `${object} idle_gpu`,
  };
}

/** Once for each cluster, the first time that it has done nothing for long. */
export function idleNotification(
  { number, workspace, name, user }: Pick<Subject, 'number' | 'workspace' | 'name' | 'user'>,
  sinceMs: number,
): NewNotification {
  const object = `cluster/${number}`;
  const idleSince = new Date(sinceMs).toISOString();
  return {
    ...{ workspace, object, type: 'cluster.idle' },
    text: `Cluster ${number} (${name}) has computed nothing since ${timeText(sinceMs)}, and goes on: ropewalk cluster stop ${number}`,
    data: { cluster: number, name, workspace, user, idleSince },
    once: `${object} idle`,
  };
}

/** Null for a state without a notification. The reason of a private job may quote its output, so it is left out. */
export function notificationOf(subject: Subject, isPrivate: boolean): NewNotification | null {
  const { kind, number, workspace, name, user, status, tasks } = subject;
  const verb = (kind === 'job' ? jobVerbs : clusterVerbs)[status];
  if (verb === undefined) return null;
  const object = `${kind}/${number}`;
  const reason = subject.reason === null || isPrivate ? null : { code: subject.reason.code, text: subject.reason.text };
  const why = reason === null ? '' : `: ${reason.text}`;
  return {
    ...{ workspace, object, type: `${kind}.${verb}` as NotificationType },
    text: `${kind === 'job' ? 'Job' : 'Cluster'} ${number} (${name}) ${texts[verb] ?? verb}${why}`,
    data: { [kind]: number, name, workspace, user, status, reason, ...(tasks === undefined ? {} : { tasks }) },
    // A state that is reached again, and a view that is written again, make no second notification.
    once: `${object} ${verb}`,
  };
}

const jobVerbs: Record<string, 'finished' | 'failed' | 'cancelled'> = {
  ...{ done: 'finished', error: 'failed', cancelled: 'cancelled' },
};
const clusterVerbs: Record<string, 'ready' | 'ended' | 'failed'> = {
  ...{ ready: 'ready', stopped: 'ended', error: 'failed' },
};
const texts: Record<string, string> = {
  ...{
    finished: 'has finished',
    failed: 'has failed',
    cancelled: 'was cancelled',
    ready: 'is ready',
    ended: 'has ended',
  },
};
