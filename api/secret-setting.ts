// A secret in the environment: in the variable NAME, or in a file whose path is in NAME_FILE, which keeps it out of process lists.
import type { Environment, EnvironmentProblem } from '../platform/environment.ts';

export type SecretSetting = { text: string } | { file: string };
export type ReadText = (file: string) => Promise<string>;

export const secretSetting = (text: string | undefined, file: string | undefined): SecretSetting =>
  file === undefined ? { text: text ?? '' } : { file };

/** Without the line break at a file's end. */
export const readSecretSetting = async (setting: SecretSetting, read: ReadText): Promise<string> =>
  'file' in setting ? (await read(setting.file)).trim() : setting.text;

/** Exactly one of the two variables must be set. */
export function secretProblems(env: Environment, name: string): EnvironmentProblem[] {
  const has = (variable: string): boolean => (env[variable] ?? '') !== '';
  return has(name) === has(`${name}_FILE`)
    ? [{ variable: `${name}_FILE`, text: `or ${name} must be set, and not both` }]
    : [];
}
