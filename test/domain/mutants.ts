// Named ways of breaking the rules, one line each, that the simulated worlds must notice. `from` is exact source text that
// is there once.
export interface Mutant {
  name: string;
  /** In domain/. */
  file: string;
  from: string;
  to: string;
}

export const jobMutants: Mutant[] = [
  {
    name: 'a result counts under anybody’s lease',
    file: 'job/exchange.ts',
    from: 'held.lease === result.lease && held.instance === id',
    to: 'held.lease === result.lease',
  },
  {
    name: 'a result counts under any lease of its sender',
    file: 'job/exchange.ts',
    from: 'held.lease === result.lease && held.instance === id',
    to: 'held.instance === id',
  },
  {
    name: 'a result counts for another task than its lease',
    file: 'job/exchange.ts',
    from: 'if (lease === undefined || lease.task !== result.task) {',
    to: 'if (lease === undefined) {',
  },
  {
    name: 'a repeated claim is taken for an old one (<= for <)',
    file: 'job/exchange.ts',
    from: 'if (item.claim < instance.lastClaim) return [];',
    to: 'if (item.claim <= instance.lastClaim) return [];',
  },
  {
    name: 'an old claim that comes late gets work',
    file: 'job/exchange.ts',
    from: 'if (item.claim < instance.lastClaim) return [];',
    to: '',
  },
  {
    name: 'a lease number is given twice',
    file: 'job/exchange.ts',
    from: 'state.nextLease += 1;',
    to: '',
  },
  {
    name: 'a lost instance gets work',
    file: 'job/exchange.ts',
    from: 'stopOrder(state, instance) === null && item.want > 0;',
    to: 'item.want > 0;',
  },
  {
    name: 'an agent’s clock starts the time limit',
    file: 'job/exchange.ts',
    from: 'Math.max(lease.grantedAtMs, Math.min(result.startedAtMs, nowMs));',
    to: 'Math.min(result.startedAtMs, nowMs);',
  },
  {
    name: 'one retry too few (< for <=)',
    file: 'job/exchange.ts',
    from: 'failures <= state.settings.retries',
    to: 'failures < state.settings.retries',
  },
  {
    name: 'losses count as failures',
    file: 'job/exchange.ts',
    from: 'lease.attempt - (state.losses[lease.task] ?? 0);',
    to: 'lease.attempt;',
  },
  {
    name: 'an abandoned task is never tried again',
    file: 'job/exchange.ts',
    from: '  requeueAbandoned(state, item, nowMs);\n',
    to: '',
  },
  {
    name: 'a renewal does not move the deadline',
    file: 'job/exchange.ts',
    from: '  lease.deadlineMs = nowMs + state.settings.leaseMs;\n  lease.extensions = 0;\n',
    to: '  lease.extensions = 0;\n',
  },
  {
    name: 'a claim that gives up the last task leaves the job open',
    file: 'job/exchange.ts',
    from: 'may have ended the last open task, lost once too often.\n  settle(state, nowMs);\n',
    to: 'may have ended the last open task, lost once too often.\n',
  },
  {
    name: 'one loss too many (<= for <)',
    file: 'job/rules.ts',
    from: 'losses < maxLostAttempts',
    to: 'losses <= maxLostAttempts',
  },
  {
    name: 'an outage of ours counts as silence',
    file: 'job/events.ts',
    from: 'heardElsewhere > periodFromMs;',
    to: 'true;',
  },
  {
    name: 'one proof of our link counts for every period',
    file: 'job/events.ts',
    from: 'Math.max(lease.deadlineMs - state.settings.leaseMs, lease.heardAtMs + state.settings.leaseMs);',
    to: 'lease.heardAtMs + state.settings.leaseMs;',
  },
  {
    name: 'silence is forgiven without end',
    file: 'job/events.ts',
    from: 'if (linkWorked) lease.extensions += 1;',
    to: '',
  },
  {
    name: 'a lost instance keeps its leases',
    file: 'job/events.ts',
    from: '  loseLeases(state, own, why, nowMs);\n',
    to: '',
  },
  {
    name: 'a cancelled job keeps its leases',
    file: 'job/events.ts',
    from: '    endLease(state, lease);\n',
    to: '',
  },
  {
    name: 'a cancel after the end counts',
    file: 'job/events.ts',
    from: 'if (isOver(state)) return;\n  state.cancelRequested = reason;',
    to: 'state.cancelRequested = reason;',
  },
];

export const clusterMutants: Mutant[] = [
  {
    name: 'launches while stopping',
    file: 'cluster/plan.ts',
    from: '...(end === null ? [',
    to: '...(nowMs > 0 ? [',
  },
  {
    name: 'launches while backing off',
    file: 'cluster/plan.ts',
    from: '  if (state.launchBackoff !== null && nowMs < state.launchBackoff.untilMs) return [];\n',
    to: '',
  },
  {
    name: 'a launch is not written down before it is made',
    file: 'cluster/plan.ts',
    from: '      state.launches.push({ seq: decision.seq, slots: decision.slots.map((order) => order.slot), atMs: nowMs });\n',
    to: '',
  },
  {
    name: 'a slot is filled again while its launch is pending',
    file: 'cluster/slots.ts',
    from: '    ...state.launches.flatMap((pending) => pending.slots),\n',
    to: '',
  },
  {
    name: 'one instance more than asked for (> for >=)',
    file: 'cluster/slots.ts',
    from: 'if (instance.slot >= state.target) return true;',
    to: 'if (instance.slot > state.target) return true;',
  },
  {
    name: 'a slot that was given up is launched again',
    file: 'cluster/slots.ts',
    from: 'if (!taken.has(slot) && !state.slots[slot]?.givenUp) vacant.push(slot);',
    to: 'if (!taken.has(slot)) vacant.push(slot);',
  },
  {
    name: 'a slot fails once too often (> for >=)',
    file: 'cluster/lose.ts',
    from: 'if (history.failures >= maxSlotFailures',
    to: 'if (history.failures > maxSlotFailures',
  },
  {
    name: 'never registered is no failure',
    file: 'cluster/apply.ts',
    from: 'instance.registeredAtMs === null && instance.reason?.code !== notWanted && instance.slot < state.target;',
    to: 'instance.slot < state.target && instance.slot < 0;',
  },
  {
    name: 'a second process takes an instance over',
    file: 'cluster/apply.ts',
    from: "  if (instance.bootId !== null && instance.bootId !== report.bootId) return 'refused';\n",
    to: '',
  },
  {
    name: 'the same look counts twice',
    file: 'cluster/apply.ts',
    from: 'if (suspicion !== null && news.linkWorks && !isRepeat)',
    to: 'if (suspicion !== null && news.linkWorks)',
  },
  {
    name: 'an outage of ours counts as silence of instances',
    file: 'cluster/apply.ts',
    from: 'if (suspicion !== null && news.linkWorks && !isRepeat)',
    to: 'if (suspicion !== null && !isRepeat)',
  },
  {
    name: 'instances that fall silent one by one are all replaced',
    file: 'cluster/apply.ts',
    from: '>= maxSilentInspections - 1',
    to: '>= maxSilentInspections',
  },
  {
    name: 'what may come from a launch under way is told lost',
    file: 'cluster/apply.ts',
    from: 'if (instance === undefined && isLaunching) continue;',
    to: '',
  },
  {
    name: 'the job is not told of a loss',
    file: 'cluster/lose.ts',
    from: '  tellLost(state, instance.id, reason.code, reason.text);\n',
    to: '',
  },
  {
    name: 'a second stop changes the reason',
    file: 'cluster/requests.ts',
    from: 'if (state.stopRequested !== null) return;\n  state.stopRequested = reason;',
    to: 'state.stopRequested = reason;',
  },
];

export const deploymentMutants: Mutant[] = [
  {
    name: 'number blocks overlap',
    file: 'deployment/rules.ts',
    from: 'state.nextNumber += numberBlockSize;',
    to: 'state.nextNumber += numberBlockSize - 1;',
  },
  {
    name: 'a lease asked for twice takes two blocks',
    file: 'deployment/rules.ts',
    from: 'if (workspace.lastLease?.opId === opId)',
    to: 'if (false)',
  },
  {
    name: 'what every object inherits is a workspace',
    file: 'deployment/rules.ts',
    from: 'Object.hasOwn(state.workspaces, slug) ? state.workspaces[slug] : undefined;',
    to: 'state.workspaces[slug];',
  },
];
