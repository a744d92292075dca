// The content of a named environment: sealed, because a requirement may contain an index's password.
import { z } from 'zod';

import { RopewalkError } from '../../domain/errors.ts';
import { container } from '../../schema/container.ts';
import type { PutEnvironmentParsed } from '../../schema/environments.ts';
import { software } from '../../schema/software.ts';
import type { NamedEnvironment } from '../../store/environment-port.ts';
import type { Deps } from '../context.ts';
import { hashBody } from '../jobs/canonical.ts';
import { checkSoftware } from '../software/check.ts';

const environmentContent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('environment'), software }),
  container.extend({ kind: z.literal('container') }),
]);
export type EnvironmentContent = z.infer<typeof environmentContent>;

/** A named environment keeps its content until it is deleted or changed. */
export const keptMs = 100 * 365 * 86_400_000;

/** @throws RopewalkError VALIDATION naming the field. */
export function contentOf(body: PutEnvironmentParsed): EnvironmentContent {
  if ((body.software === undefined) === (body.container === undefined)) {
    throw new RopewalkError({
      code: 'VALIDATION',
      field: body.software === undefined ? 'software' : 'container',
      message: 'An environment has either software or a container.',
      hint: 'Give one of the two.',
    });
  }
  checkSoftware(body.software);
  if (body.software !== undefined) return { kind: 'environment', software: body.software };
  return {
    kind: 'container',
    image: body.container ?? '',
    ignoreEntrypoint: body.ignoreContainerEntrypoint ?? false,
    registryAuth: body.registryAuth ?? {},
  };
}

/** Keyed, so its readers cannot guess passwords with it. */
export const hashOf = ({ keys }: Pick<Deps, 'keys'>, content: EnvironmentContent): string =>
  hashBody(content, keys.current.requestHmac);

export function summaryOf(content: EnvironmentContent): string {
  if (content.kind === 'container') return content.image;
  const { requirements, pinned, python, packageFiles } = content.software;
  const parts = [`${requirements.length} ${pinned ? 'pinned ' : ''}requirements`];
  if (packageFiles.length > 0) parts.push(`${packageFiles.length} package files`);
  if (python !== undefined) parts.push(`Python ${python}`);
  return parts.join(', ');
}

/** Opens the current content of the name. @throws RopewalkError NOT_FOUND */
export async function openContent(
  { store, vault }: Pick<Deps, 'store' | 'vault'>,
  workspace: string,
  name: string,
): Promise<{ environment: NamedEnvironment; content: EnvironmentContent }> {
  // The content may be replaced between the read of the row and the opening.
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const environment = await store.environments.find(workspace, name);
    if (environment === null) break;
    const bytes = await vault.open(environment.contentRef);
    if (bytes === null) continue;
    const content = environmentContent.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
    return { environment, content };
  }
  throw noEnvironment(name);
}

export const noEnvironment = (name: string): RopewalkError =>
  new RopewalkError({
    code: 'NOT_FOUND',
    message: `There is no environment named ${name} in this workspace.`,
    hint: 'See ropewalk env list; create one with ropewalk env create.',
  });
