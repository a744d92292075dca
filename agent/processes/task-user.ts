// The user that tasks and Dask's processes run as where the agent is root on a machine of its own: a program of a user then reads
// neither the agent's files nor its memory, both of which hold the tokens of the instance.
import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface TaskUser {
  name: string;
  uid: number;
  gid: number;
  home: string;
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
  return { name, uid: Number(uid), gid: Number(gid), home };
}

/** Lets the user reach, and not list, the directories below which its programs and its own directories lie. */
export async function letPass(user: TaskUser | null, directories: readonly string[]): Promise<void> {
  if (user === null) return;
  for (const directory of directories) {
    await mkdir(directory, { recursive: true, mode: 0o711 });
    await chmod(directory, 0o711);
    // Who could write in it could lead root anywhere.
    const { uid } = await lstat(directory);
    if (uid !== process.getuid?.())
      throw new Error(`${directory} belongs to the user ${uid}, and has to be the agent's.`);
  }
}

/** The variables by which programs find out who runs them. */
export const variablesOf = (user: TaskUser | null): Record<string, string> =>
  user === null ? {} : { HOME: user.home, USER: user.name, LOGNAME: user.name };
