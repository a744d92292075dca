// The user that tasks and Dask's processes run as where the agent is root on a machine of its own: a program of a user then reads
// neither the agent's files nor its memory, both of which hold the tokens of the instance.
import { execFile } from 'node:child_process';
import { chmod, lchown, lstat, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { InstanceFault } from './instance-fault.ts';

export interface TaskUser {
  name: string;
  uid: number;
  gid: number;
  home: string;
  /** Users of its containers, beside itself: those that /etc/subuid gives it. */
  subordinate: { first: number; count: number }[];
}

/** Set by the provider's user data, which also makes the user. */
export const taskUserVariable = 'ROPEWALK_TASK_USER';

/**
 * The user that the agent's environment names; null where it names none: then tasks run as the agent's own user.
 *
 * Rejects when there is no such user, when it is root, or when the agent is not root: nothing may run as the wrong user.
 */
export async function findTaskUser(environment: Record<string, string | undefined>): Promise<TaskUser | null> {
  const name = environment[taskUserVariable] ?? '';
  if (name === '') return null;
  if (process.getuid?.() !== 0) throw new Error(`Only root can run tasks as the user ${name} (${taskUserVariable}).`);
  const { stdout } = await promisify(execFile)('getent', ['passwd', name]).catch(() => ({ stdout: '' }));
  const [, , uid = '', gid = '', , home = ''] = stdout.trim().split(':');
  if (!/^[1-9]\d*$/.test(uid) || !/^\d+$/.test(gid)) {
    throw new Error(
      `There is no user ${name} other than root on this machine, and tasks have to run as it (${taskUserVariable}).`,
    );
  }
  return { name, uid: Number(uid), gid: Number(gid), home, subordinate: await subordinateOf(name, uid) };
}

async function subordinateOf(name: string, uid: string): Promise<TaskUser['subordinate']> {
  const text = await readFile('/etc/subuid', 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const [owner = '', first = '', count = ''] = line.split(':');
    const isOurs = (owner === name || owner === uid) && /^\d+$/.test(first) && /^[1-9]\d*$/.test(count);
    return isOurs ? [{ first: Number(first), count: Number(count) }] : [];
  });
}

/** Lets the user reach, and not list, the directories below which its programs and its own directories lie. */
export async function letPass(user: TaskUser | null, directories: readonly string[]): Promise<void> {
  if (user === null) return;
  for (const directory of directories) {
    await mkdir(directory, { recursive: true, mode: 0o711 });
    await chmod(directory, 0o711);
  }
}

/** The variables by which programs find out who runs them. */
export const variablesOf = (user: TaskUser | null): Record<string, string> =>
  user === null ? {} : { HOME: user.home, USER: user.name, LOGNAME: user.name };

/**
 * Removes what is in a directory of the user, as that user: a process of a task that has outlived it may put links where this looks,
 * and root would follow them anywhere. Never rejects; the directory itself stays.
 */
export async function emptyAs({ uid, gid }: Pick<TaskUser, 'uid' | 'gid'>, directory: string): Promise<void> {
  // A directory that its owner may not write has to be made writable first.
  const script = 'cd -- "$1" && { find . -mindepth 1 -delete || { chmod -R u+rwX .; find . -mindepth 1 -delete; }; }';
  const env = { PATH: '/usr/bin:/bin' };
  await promisify(execFile)('sh', ['-c', script, 'sh', directory], { uid, gid, env }).catch(() => undefined);
}

/** Gives the user a directory with all that is in it. It must not be the user's before: a link would give it another one. */
export async function giveTo({ uid, gid }: Pick<TaskUser, 'uid' | 'gid'>, path: string): Promise<void> {
  try {
    const info = await lstat(path);
    if (info.isDirectory()) {
      for (const name of await readdir(path)) await giveTo({ uid, gid }, join(path, name));
    }
    await lchown(path, uid, gid);
  } catch (error) {
    throw new InstanceFault(`${path} could not be given to the user of tasks`, error);
  }
}
