// Named ways of breaking the sweep's rules. Most of them would end somebody who is alive.
import type { Mutant } from '../mutants.ts';

const file = 'sweep/decide.ts';

export const sweepMutants: Mutant[] = [
  {
    name: 'a strange namespace is believed',
    file,
    from: 'if (deploymentInTemporal !== settings.deploymentId) {',
    to: 'if (deploymentInTemporal === null) {',
  },
  {
    name: 'a namespace that does not say whose it is is believed',
    file,
    from: 'if (deploymentInTemporal !== settings.deploymentId) {',
    to: 'if (deploymentInTemporal !== null && deploymentInTemporal !== settings.deploymentId) {',
  },
  {
    name: 'what was seen in a strange namespace counts',
    file,
    from: 'deploymentInTemporal === null ? [...before] : []',
    to: '[...before]',
  },
  {
    name: 'instances of other deployments are ended',
    file,
    from: "if (owner.deploymentId !== deploymentId) return say('foreign', `belongs to deployment ${owner.deploymentId}`, null);",
    to: '',
  },
  {
    name: 'an open workflow owns nothing',
    file,
    from: "if (state === 'open') return",
    to: "if (state === 'open' && nowMs < 0) return",
  },
  {
    name: 'an error counts as closed',
    file,
    from: "if (state === 'unknown') return",
    to: "if (state === 'unknown' && nowMs < 0) return",
  },
  { name: 'a cluster nobody asked about counts as closed', file, from: "?? 'unknown'", to: "?? 'closed'" },
  {
    name: 'an error makes it forget',
    file,
    from: 'could not be described`, seenMs)',
    to: 'could not be described`, null)',
  },
  { name: 'young instances are suspected', file, from: 'if (ageMs < ripeMs) return', to: 'if (ageMs < 0) return' },
  { name: 'once is enough', file, from: 'if (waitedMs < enoughMs) return', to: 'if (waitedMs < 0) return' },
  {
    name: 'twice is enough, however soon',
    file,
    from: 'if (waitedMs < enoughMs) return',
    to: 'if (waitedMs <= 0) return',
  },
  {
    name: 'the grace period must be exceeded (<= for <)',
    file,
    from: 'if (waitedMs < enoughMs) return',
    to: 'if (waitedMs <= enoughMs) return',
  },
  {
    name: 'an orphan is forgotten before it is gone',
    file,
    from: "return say('orphan', `${name} is ${state}, seen for ${seconds(waitedMs)}`, sinceMs);",
    to: "return say('orphan', name, null);",
  },
  {
    name: 'owners are told apart by workspace alone',
    file: 'owner.ts',
    from: '[owner.deploymentId, owner.workspace, owner.cluster]',
    to: '[owner.workspace]',
  },
  {
    name: 'a volume is removed under an instance of its cluster',
    file,
    from: 'if (isNeeded) return',
    to: 'if (isNeeded && nowMs < 0) return',
  },
  {
    name: 'what a launch has just made is taken for left behind',
    file,
    from: 'kind === undefined ? graceMs : Math.max(graceMs, launchMs)',
    to: 'graceMs',
  },
  {
    name: 'what does not say when it was made is old at the first sight of it',
    file,
    from: 'bornAtMs === null ? ripeMs : graceMs',
    to: 'graceMs',
  },
  {
    name: 'a volume is told to terminate, as instances are',
    file,
    from: 'kind === undefined ? [{ id, owner }] : []',
    to: '[{ id, owner }]',
  },
];
