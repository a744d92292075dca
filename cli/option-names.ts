// Translates the API's errors to the options of `batch run`: the API names the fields of a request, its user knows the options.
import { RopewalkApiError, ValidationError } from '../sdk/client.ts';
import { UsageError } from './errors.ts';
import type { MapOverFlags } from './map-over.ts';

const options: Readonly<Record<string, string>> = {
  'mapOver.inputVar': '--map-over-input-var',
  'mapOver.delimiter': '--map-over-delimiter',
  schedulerTaskArray: '--scheduler-task-array',
  retryOnExit: '--retry-on-exit',
  taskTimeout: '--task-timeout',
  jobTimeout: '--job-timeout',
  watchdogTimeout: '--watchdog-timeout',
  maxWorkers: '--max-workers',
  inputFilestore: '--input-filestore',
  outputFilestore: '--output-filestore',
};

/** Returns the error itself when it names no field from an option. */
export function inOptions(error: unknown, flags: MapOverFlags): unknown {
  if (!(error instanceof RopewalkApiError)) return error;
  const { message, field } = error;
  if (error.code === 'TOO_LARGE' && inputsOption(flags) !== null) return tooManyInputs(flags);
  if (!(error instanceof ValidationError) || field === undefined) return error;
  const option = options[field] ?? (field === 'mapOver' ? inputsOption(flags) : null);
  if (option === null || !message.includes(`${field}:`)) return error;
  const { code, status, hint, requestId } = error;
  const named = message.replace(`${field}:`, `${option}:`);
  return new ValidationError(named, { code, status, hint, requestId });
}

const inputsOption = ({ mapOverFile, mapOverValues }: MapOverFlags): string | null => {
  if (mapOverFile !== undefined) return '--map-over-file';
  return mapOverValues === undefined ? null : '--map-over-values';
};

const tooManyInputs = (flags: MapOverFlags): UsageError =>
  new UsageError(
    `${inputsOption(flags)}: the values are too large: those of one job, with its command and files, fit in 16 MiB`,
    'Split them, and submit a job for each part; or put the list into a file that tasks read, and give them their lines with --array.',
  );
