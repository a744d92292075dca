// Refuses a command whose first word names a file that exists nowhere: without this check, an instance would be launched to
// find that out.
import { access } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';

import type { CliContext } from './context.ts';
import { UsageError } from './errors.ts';
import { hasScriptEnding } from './outside-scripts.ts';
import { readScriptHeader } from './script-header.ts';

export interface CommandPathFlags {
  commandOnInstance?: boolean;
  container?: string;
  software?: string;
  hostSetupScript?: string;
  inputFilestore?: string;
  requirement?: string[];
  requirementsFile?: string[];
}

/** Options whose content may provide the file on instances. */
const givers = ['container', 'software', 'host-setup-script', 'input-filestore'];

/** `sent`: paths of the files that are sent with the job. Throws UsageError. */
export async function checkCommandPath(
  words: readonly string[],
  sent: readonly string[],
  context: Pick<CliContext, 'cwd' | 'env'>,
  flags: CommandPathFlags,
): Promise<void> {
  const [first = ''] = words;
  const isPath = first.includes('/');
  // The server or the instance checks a word with blanks, variables or shell characters.
  if (!(isPath || hasScriptEnding(first)) || /[\s|;&<>$*]/.test(first)) return;
  const { commandOnInstance, container, software, hostSetupScript, inputFilestore } = flags;
  if (commandOnInstance === true || sent.includes(first.replace(/^(?:\.\/)+/, ''))) return;
  if ([container, software, hostSetupScript, inputFilestore].some((each) => each !== undefined)) return;
  const installs = [...(flags.requirement ?? []), ...(flags.requirementsFile ?? [])].length > 0;
  if (!isPath && (installs || (await isOnPath(first, context)))) return;
  if (await exists(resolve(context.cwd, first.replace(/^~(?=\/)/, context.env['HOME'] ?? '~')))) return;
  if ((await readScriptHeader(words, new Set(givers), context)).size > 0) return;
  throw new UsageError(
    `${first} does not exist here, so it would not be sent to the instances`,
    'Correct the path. If the file exists on the instances, add --command-on-instance before the command.',
  );
}

async function isOnPath(name: string, { env }: Pick<CliContext, 'env'>): Promise<boolean> {
  const found = await Promise.all((env['PATH'] ?? '').split(delimiter).map((place) => exists(join(place, name))));
  return found.includes(true);
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
