// What a Dask cluster is asked to run, checked before anything is written. A requirement may hold a password and an option
// a secret: errors name the field, never the value.
import { reservedOption, reservedSchedulerOptions, reservedWorkerOptions } from '../../domain/cluster/dask-options.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { CreateClusterParsed } from '../../schema/clusters.ts';
import { checkEnvironment } from '../environment-check.ts';

export function checkDaskInput(body: CreateClusterParsed): void {
  checkEnvironment(body);
  for (const [index, requirement] of (body.requirements ?? []).entries()) checkRequirement(requirement, index);
  checkClass(body.workerClass, 'workerClass');
  checkClass(body.schedulerClass, 'schedulerClass');
  checkOptions(body.workerOptions, 'workerOptions', reservedWorkerOptions);
  checkOptions(body.schedulerOptions, 'schedulerOptions', reservedSchedulerOptions);
}

/** Requirements reach uv as lines of a file: each must stay one line, and none may be an option or a path of the instance. */
function checkRequirement(requirement: string, index: number): void {
  const field = `requirements.${index}`;
  const hint = 'Write the name of a package, with a version if it matters, as in "pandas==2.3.1".';
  if (requirement.trim().startsWith('-')) throw invalid(field, 'options of the installer are not taken', hint);
  if (/[\p{Cc}\p{Zl}\p{Zp}\\]|\$\{/u.test(requirement)) {
    throw invalid(field, 'control characters, backslashes and ${...} are not taken', hint);
  }
  if (!/^[A-Za-z0-9]/.test(requirement.trim())) throw invalid(field, 'it does not begin with a name', hint);
}

function checkClass(name: string | undefined, field: string): void {
  if (name === undefined || /^[\p{L}_][\p{L}\p{N}_]*(\.[\p{L}_][\p{L}\p{N}_]*)+$/u.test(name)) return;
  throw invalid(field, 'it is not the name of a Python class', 'Write it with its module: "dask_cuda.CUDAWorker".');
}

function checkOptions(options: Record<string, unknown>, field: string, reserved: readonly string[]): void {
  const used = reservedOption(options, reserved);
  if (used === null) return;
  throw invalid(`${field}.${used}`, 'Ropewalk sets it itself', `Remove ${used} from ${field}.`);
}

const invalid = (field: string, why: string, hint: string) =>
  new RopewalkError({ code: 'VALIDATION', field, message: `${field}: ${why}.`, hint });
