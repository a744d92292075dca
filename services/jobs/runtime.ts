// The runtime of a job's tasks: a container, a Python environment, or the instance itself. The request overrides the header of the script.
import { RopewalkError } from '../../domain/errors.ts';
import type { RuntimeOptions } from '../../domain/job/runtime-options.ts';
import type { CreateJobParsed } from '../../schema/jobs.ts';
import type { RuntimeSpec } from '../../schema/runtime.ts';
import { environmentOf } from '../software/check.ts';

export interface JobRuntime {
  runtime: RuntimeSpec;
  warnings: string[];
}

type Fields = Pick<
  CreateJobParsed,
  'container' | 'ignoreContainerEntrypoint' | 'registryAuth' | 'runOnHost' | 'software'
>;

/** @throws RopewalkError VALIDATION when a request names two of them. */
export function runtimeOf(body: Fields, options: RuntimeOptions): JobRuntime {
  const runOnHost = body.runOnHost ?? options.runOnHost ?? false;
  const asked = body.container ?? options.container;
  if (asked !== undefined && runOnHost) throw both('runOnHost', 'container and runOnHost');
  if (asked !== undefined && body.software !== undefined) throw both('container', 'container and software');
  const image = runOnHost ? undefined : (asked ?? options.headerContainer);
  if (image === undefined) {
    if (body.software === undefined) return { runtime: { kind: 'host' }, warnings: [] };
    return { runtime: { kind: 'environment', ...environmentOf(body.software) }, warnings: [] };
  }
  const ignoreEntrypoint = body.ignoreContainerEntrypoint ?? options.ignoreEntrypoint ?? false;
  const runtime = { kind: 'container', image, ignoreEntrypoint, registryAuth: body.registryAuth ?? {} } as const;
  if (body.software === undefined) return { runtime, warnings: [] };
  return {
    runtime,
    warnings: [
      `The script names the container ${image}: tasks run in it, without the Python environment that was sent.`,
    ],
  };
}

const both = (field: string, what: string): RopewalkError =>
  new RopewalkError({
    code: 'VALIDATION',
    field,
    message: `${what} both say what tasks run in.`,
    hint: 'Keep one of the two.',
  });
