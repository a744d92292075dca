// The user of tasks and Dask processes where the agent is root on a dedicated machine: a user's program then can read neither
// the agent's files nor its memory, both of which contain the instance's tokens.
import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface TaskUser {
  name: string;
  uid: number;
  gid: number;
  home: string;
}

/** Set by the provider's user data, which also creates the user. */
export const taskUserVariable = 'ROPEWALK_TASK_USER';

/**
 * The user that the agent's environment names; null without one: tasks then run as the agent's own user.
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

/** Lets the user traverse, but not list, the parents of its programs and directories. */
export async function letPass(user: TaskUser | null, directories: readonly string[]): Promise<void> {
  if (user === null) return;
  for (const directory of directories) {
    await mkdir(directory, { recursive: true, mode: 0o711 });
    await chmod(directory, 0o711);
    // A user with write access could redirect root anywhere.
    const { uid } = await lstat(directory);
    if (uid !== process.getuid?.())
      throw new Error(`${directory} belongs to the user ${uid}, and has to be the agent's.`);
  }
}

/** The variables by which programs identify their user. */
export const variablesOf = (user: TaskUser | null): Record<string, string> =>
  user === null ? {} : { HOME: user.home, USER: user.name, LOGNAME: user.name };
