// Checks the requested software before anything is written. A requirement may contain a password, so errors name the field, never the value.
import { RopewalkError } from '../../domain/errors.ts';
import { hasGitCredentials } from '../../domain/software/url-text.ts';
import type { EnvironmentSpec, Software } from '../../schema/software.ts';

/** @throws RopewalkError VALIDATION naming the field. */
export function checkSoftware(software: Software | undefined): void {
  for (const [index, requirement] of (software?.requirements ?? []).entries()) checkRequirement(requirement, index);
  const names = new Set<string>();
  for (const [index, { name }] of (software?.packageFiles ?? []).entries()) {
    if (names.has(name)) {
      throw invalid(`software.packageFiles.${index}.name`, 'another file has this name', 'Name each file once.');
    }
    names.add(name);
  }
}

/** The complete definition for agents. */
export const environmentOf = (software: Software | undefined): EnvironmentSpec => ({
  requirements: software?.requirements ?? [],
  pinned: software?.pinned ?? false,
  python: software?.python ?? null,
  interpreter: software?.interpreter ?? null,
  packageFiles: software?.packageFiles ?? [],
  indexes: software?.indexes ?? [],
  leftOut: software?.leftOut ?? [],
});

/** Requirements are passed to uv as lines of a file: each must be one line, and none may be an option or a path of the instance. */
function checkRequirement(requirement: string, index: number): void {
  const field = `software.requirements.${index}`;
  const hint = 'Write the name of a package, with a version if it matters, as in "pandas==2.3.1".';
  if (requirement.trim().startsWith('-')) throw invalid(field, 'options of the installer are not taken', hint);
  if (/[\p{Cc}\p{Zl}\p{Zp}\\]|\$\{/u.test(requirement)) {
    throw invalid(field, 'control characters, backslashes and ${...} are not taken', hint);
  }
  if (hasGitCredentials(requirement)) {
    throw invalid(
      field,
      'credentials in the URL of a git repository are not taken, because git shows its arguments to every user of the instance',
      'Put the package in a private index (software.indexes has fields for its credentials), or send it as a wheel, as package sync does.',
    );
  }
  if (!/^[A-Za-z0-9]/.test(requirement.trim())) throw invalid(field, 'it does not begin with a name', hint);
}

const invalid = (field: string, why: string, hint: string) =>
  new RopewalkError({ code: 'VALIDATION', field, message: `${field}: ${why}.`, hint });
