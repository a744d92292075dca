// Operations that fail after the call was accepted: nothing changes, and only the operation has the error.
import { operationOf } from './shapes.ts';
import type { EmulatedProject } from './project.ts';

/** The next operation of this call if a test made it fail; else null. `path` after `/projects/PROJECT/`. */
export function failedOperation(project: EmulatedProject, call: string, path: string): object | null {
  const error = project.failing.get(call);
  if (error === undefined) return null;
  project.failing.delete(call);
  const scope = path.startsWith('global/') ? 'global' : path.split('/').slice(0, 2).join('/');
  const type = call.endsWith('insert') ? 'insert' : 'delete';
  const of = { type, scope, target: path, groupId: null, error, perLocation: null };
  return operationOf(project, project.operation({ ...of, doneAtMs: () => 0 }));
}
