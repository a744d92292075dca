// Replaces the name of an environment by its content, in a request for a cluster or a job.
import { RopewalkError } from '../../domain/errors.ts';
import { readRuntimeOptions } from '../../domain/job/runtime-options.ts';
import type { CreateClusterParsed } from '../../schema/clusters.ts';
import type { CreateJobParsed } from '../../schema/jobs.ts';
import type { Context } from '../context.ts';
import type { JobBody } from '../jobs/body.ts';
import { readHeader } from '../jobs/script.ts';
import { openContent } from './content.ts';

type Fields = Pick<
  CreateJobParsed,
  'software' | 'container' | 'ignoreContainerEntrypoint' | 'registryAuth' | 'softwareName'
>;

/** @throws RopewalkError NOT_FOUND, or VALIDATION when the request also defines other software. */
export async function withNamedSoftware(context: Context, body: JobBody): Promise<JobBody> {
  const options = readRuntimeOptions(readHeader(body), body.options ?? {});
  const asked = body.softwareName ?? options.software;
  const isOverruled = body.container !== undefined || options.container !== undefined || body.runOnHost === true;
  const name = asked ?? (isOverruled ? undefined : options.headerSoftware);
  if (name === undefined) return body;
  // The header overrides software that a client sends by default.
  const sent = asked === undefined ? { ...body, software: undefined } : body;
  return { ...sent, ...(await fieldsOf(context, sent, name)) };
}

/** @throws RopewalkError NOT_FOUND, VALIDATION */
export async function withNamedEnvironment(context: Context, body: CreateClusterParsed): Promise<CreateClusterParsed> {
  if (body.softwareName === undefined) return body;
  return { ...body, ...(await fieldsOf(context, body, body.softwareName)) };
}

async function fieldsOf({ deps, actor }: Context, body: Fields, name: string): Promise<Partial<Fields>> {
  if (body.software !== undefined || body.container !== undefined) {
    throw new RopewalkError({
      code: 'VALIDATION',
      field: 'softwareName',
      message: 'softwareName names an environment, and software or container describes another one.',
      hint: 'Keep one of them.',
    });
  }
  const { content } = await openContent(deps, actor.workspace, name);
  if (content.kind === 'environment') return { software: content.software, softwareName: undefined };
  const { image, ignoreEntrypoint, registryAuth } = content;
  return {
    container: image,
    ignoreContainerEntrypoint: body.ignoreContainerEntrypoint ?? ignoreEntrypoint,
    registryAuth: body.registryAuth ?? registryAuth,
    softwareName: undefined,
  };
}
