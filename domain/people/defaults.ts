// An admin's defaults for requests in a workspace: where its clusters and jobs run, and who may reach them.
import type { Problem } from '../errors.ts';
import { needsAdmin, type Caller } from './authority.ts';
import { peopleEvent } from './events.ts';
import type { PeopleEvent } from './state.ts';

export interface WorkspaceDefaults {
  /** The provider of the other defaults; the preferred one when absent. */
  provider?: string | undefined;
  region?: string | undefined;
  zone?: string | undefined;
  spotPolicy?: 'on-demand' | 'spot' | 'spot_with_fallback' | undefined;
  allowCrossZone?: boolean | undefined;
  allowSsh?: boolean | undefined;
  allowSshFrom?: string | undefined;
  allowIngressFrom?: string | undefined;
  instanceCredentials?: boolean | undefined;
}

/** Replaces all defaults of the workspace. */
export function replaceDefaults(
  caller: Caller,
  defaults: WorkspaceDefaults,
  nowMs: number,
): { ok: { defaults: WorkspaceDefaults; event: PeopleEvent } } | { error: Problem } {
  const refused = needsAdmin(caller, nowMs);
  if (refused !== null) return { error: refused };
  return { ok: { defaults, event: peopleEvent(caller.by, 'DEFAULTS', textOf(defaults), nowMs) } };
}

const labels: [keyof WorkspaceDefaults, string][] = [
  ['provider', 'provider'],
  ['region', 'region'],
  ['zone', 'zone'],
  ['spotPolicy', 'spot policy'],
  ['allowCrossZone', 'several zones'],
  ['allowSsh', 'SSH'],
  ['allowSshFrom', 'SSH from'],
  ['allowIngressFrom', 'ingress from'],
  ['instanceCredentials', 'credentials of instances'],
];

function textOf(defaults: WorkspaceDefaults): string {
  const shown = labels.flatMap(([name, label]) => {
    const value = defaults[name];
    if (value === undefined) return [];
    return [`${label} ${value === true ? 'yes' : value === false ? 'no' : value}`];
  });
  return shown.length === 0 ? 'none' : shown.join(', ');
}

/** Requests override defaults: a requested region also overrides a default zone, and either SSH field overrides both SSH defaults. */
export function withDefaults<T extends WorkspaceDefaults>(asked: T, defaults: WorkspaceDefaults): T {
  const { provider: _, zone, allowSsh, allowSshFrom, ...others } = defaults;
  const saysSsh = asked.allowSsh !== undefined || asked.allowSshFrom !== undefined;
  const applied: WorkspaceDefaults = {
    ...others,
    ...(asked.region === undefined || asked.region === defaults.region ? { zone } : {}),
    ...(saysSsh ? {} : { allowSsh, allowSshFrom }),
  };
  return { ...asked, ...Object.fromEntries(Object.entries(applied).filter(([name]) => !isGiven(asked, name))) };
}

const isGiven = (asked: object, name: string): boolean =>
  Object.entries(asked).some(([key, value]) => key === name && value !== undefined);
