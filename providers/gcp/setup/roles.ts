// The custom roles, from the files of ops/gcp.
import { readFile } from 'node:fs/promises';

import { markOf, type CustomRole, customRoles, type Wanted } from './wanted.ts';

const folder = new URL('../../../ops/gcp/', import.meta.url);

export interface RoleFile {
  title: string;
  description: string;
  stage: 'GA';
  includedPermissions: string[];
}

const readRole = async (role: CustomRole): Promise<RoleFile> =>
  JSON.parse(await readFile(new URL(`${role}.json`, folder), 'utf8'));

export async function readRoles(): Promise<Record<CustomRole, RoleFile>> {
  const [control, instance, store] = await Promise.all(customRoles.map(readRole));
  if (control === undefined || instance === undefined || store === undefined) throw new Error('no role');
  return { 'control-plane': control, instance, 'object-store': store };
}

/** The role in the API's format. */
export const roleBody = (file: RoleFile, wanted: Wanted): RoleFile => ({
  ...file,
  description: `${file.description} ${markOf(wanted)}`,
});
