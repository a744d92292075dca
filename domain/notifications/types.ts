// Notifications of a workspace: stored as a list, and sent to its webhooks.
import { idleGpusText, type IdleGpus } from '../gpu-use.ts';
import type { Reason } from '../reason.ts';
import { timeText } from '../why.ts';

/** `noun.verb`. A new type needs only a line here and a caller that adds it. */
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
  /** The object of the notification, e.g. `job/12`: a webhook receives the notifications of one object in order. */
  object: string;
  /** One sentence. */
  text: string;
  /** For programs; plain JSON, without secrets. */
  data: Record<string, unknown>;
  /** At most one notification of a workspace has this key; without a key there is no such limit. */
  once?: string;
}

/** How long a notification and its deliveries are kept. */
export const notificationsKeptMs = 30 * 86_400_000;

/** `*`, a noun with all its verbs (`job.*`), or a type. */
export const eventPatterns: readonly string[] = [
  '*',
  ...new Set(notificationTypes.map((type) => `${type.split('.')[0]}.*`)),
  ...notificationTypes,
];

export const isSubscribed = (patterns: readonly string[], type: NotificationType): boolean =>
  patterns.some((each) => each === '*' || each === type || (each.endsWith('.*') && type.startsWith(each.slice(0, -1))));

/** A webhook for one object receives only the notifications of that object; the cluster of a job has the job's number. */
export const isAbout = (object: string | null, about: string): boolean =>
  object === null || about === object || about === object.replace(/^job\//, 'cluster/');

/** The fields of a job or cluster that a notification of its state needs. */
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

/** Sent once for each cluster, when its first GPU is idle. */
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

/** Sent once for each cluster, when it is first idle for long. */
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
    // A state that is reached again, or a view that is written again, causes no second notification.
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
