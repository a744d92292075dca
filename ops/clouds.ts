// Which clouds an environment configures, and what an operator's command needs of them: to list and to end.
import { RopewalkError } from '../domain/errors.ts';
import { type AwsFile, readAwsSettings } from '../platform/aws-settings.ts';
import type { Provider } from '../providers/provider.ts';

type Env = Record<string, string | undefined>;

/** The names of the providers of clouds. The same variable tells the API and every Temporal worker. */
export const configuredClouds = (env: Env): string[] => (awsSettingsPath(env) === null ? [] : ['aws']);

export function awsSettingsPath(env: Env): string | null {
  const path = env['ROPEWALK_AWS_SETTINGS'] ?? '';
  return path === '' ? null : path;
}

/** @throws RopewalkError VALIDATION naming every problem of the file. */
export function readAwsFile(path: string): AwsFile {
  try {
    return readAwsSettings(path);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new RopewalkError(
      {
        code: 'VALIDATION',
        message,
        hint: 'Set ROPEWALK_AWS_SETTINGS to the file that the API and the Temporal worker read.',
      },
      { cause },
    );
  }
}

/** Providers that launch nothing, to list and to end what is there. Loaded only when there are any: they are heavy. */
export async function cloudsToEnd(env: Env): Promise<Provider[]> {
  const path = awsSettingsPath(env);
  if (path === null) return [];
  const file = readAwsFile(path);
  const { createAwsProviderToEnd } = await import('../providers/aws/from-file.ts');
  return [createAwsProviderToEnd(file)];
}
