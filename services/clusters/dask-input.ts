// Checks a Dask cluster's options before anything is written. An option may contain a secret, so errors name the field, never the value.
import { reservedOption, reservedSchedulerOptions, reservedWorkerOptions } from '../../domain/cluster/dask/options.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { CreateClusterParsed } from '../../schema/clusters.ts';
import { checkEnvironment } from '../environment-check.ts';
import { checkSoftware } from '../software/check.ts';

export function checkDaskInput(body: CreateClusterParsed): void {
  checkEnvironment(body);
  checkSoftware(body.software);
  checkClass(body.workerClass, 'workerClass');
  checkClass(body.schedulerClass, 'schedulerClass');
  checkOptions(body.workerOptions, 'workerOptions', reservedWorkerOptions);
  checkOptions(body.schedulerOptions, 'schedulerOptions', reservedSchedulerOptions);
}

function checkClass(name: string | undefined, field: string): void {
  if (name === undefined || /^[\p{L}_][\p{L}\p{N}_]*(\.[\p{L}_][\p{L}\p{N}_]*)+$/u.test(name)) return;
  throw invalid(field, 'it is not the name of a Python class', 'Write it with its module: "dask_cuda.CUDAWorker".');
}

/** Request fields with the same purpose. */
const insteadOf: Readonly<Record<string, string>> = { idle_timeout: 'idleTimeout', port: 'schedulerPort' };

function checkOptions(options: Record<string, unknown>, field: string, reserved: readonly string[]): void {
  const used = reservedOption(options, reserved);
  if (used === null) return;
  const instead = field === 'schedulerOptions' ? insteadOf[used] : undefined;
  const hint = instead === undefined ? `Remove ${used} from ${field}.` : `Use ${instead} in its place.`;
  throw invalid(`${field}.${used}`, 'Ropewalk sets it itself', hint);
}

const invalid = (field: string, why: string, hint: string) =>
  new RopewalkError({ code: 'VALIDATION', field, message: `${field}: ${why}.`, hint });
