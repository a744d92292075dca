// Who watches the simulated worlds? Each mutant breaks one rule in a copy of domain/, and its worlds must notice. The copy
// without a mutation must pass: in fewer runs, for the rules have their own tests with more of them.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { checkCapacityWorlds } from '../builders/capacity-world.ts';
import { checkClusterWorlds } from '../builders/cluster-world.ts';
import { checkDaskWorlds } from '../builders/dask-world.ts';
import { checkDeploymentWorlds } from '../builders/deployment-world.ts';
import { checkHealWorlds } from '../builders/heal-world.ts';
import { checkInspectionWorlds } from '../builders/inspection-world.ts';
import { checkJobWorlds } from '../builders/job-world.ts';
import { checkLookWorlds } from '../builders/look-world.ts';
import {
  loadCapacityRules,
  loadClusterRules,
  loadDaskRules,
  loadDeploymentRules,
  loadHealRules,
  loadJobRules,
  loadLookRules,
  loadPlanRules,
  loadSweepRules,
  loadWorkspaceRules,
} from '../builders/rules.ts';
import { checkPlanWorlds } from '../builders/plan-world.ts';
import { checkSweepWorlds } from '../builders/sweep-world.ts';
import { checkPeopleWorlds } from '../builders/people-world.ts';
import { checkWorkspaceWorlds } from '../builders/workspace-world.ts';
import { capacityMutants } from './cluster/capacity-mutants.ts';
import { daskMutants } from './cluster/dask-mutants.ts';
import { inspectionMutants } from './cluster/inspection-mutants.ts';
import { slotMutants } from './cluster/slot-mutants.ts';
import { healMutants } from './heal/heal-mutants.ts';
import { sweepMutants } from './sweep/sweep-mutants.ts';
import { aheadMutants } from './job/ahead-mutants.ts';
import { giveBackMutants, shrinkMutants } from './job/shrink-mutants.ts';
import { planMutants } from './offers/plan-mutants.ts';
import { lookMutants } from './workspace/look-mutants.ts';
import { peopleMutants } from './workspace/people-mutants.ts';
import { workspaceMutants } from './workspace/workspace-mutants.ts';
import { clusterMutants, deploymentMutants, jobMutants, type Mutant } from './mutants.ts';

const domain = join(import.meta.dirname, '..', '..', 'domain');
const broken = { numRuns: 3_000, endOnFailure: true };
const asTheyAre = { ...broken, numRuns: 300 };
const timeout = 120_000;

interface Area {
  name: string;
  mutants: Mutant[];
  /** Loads a copy and gives back its check, so that a mutant that cannot even be loaded is not called caught. */
  load: (copy: string, options: typeof broken) => Promise<() => unknown>;
}

const areas: Area[] = [
  {
    name: 'job',
    mutants: [...jobMutants, ...shrinkMutants, ...aheadMutants],
    load: async (copy, options) => {
      const rules = await loadJobRules(copy);
      return () => checkJobWorlds(rules, options);
    },
  },
  {
    name: 'cluster',
    mutants: [...clusterMutants, ...giveBackMutants, ...slotMutants],
    load: async (copy, options) => {
      const rules = await loadClusterRules(copy);
      return () => checkClusterWorlds(rules, options);
    },
  },
  {
    name: 'inspection',
    mutants: inspectionMutants,
    load: async (copy, options) => {
      const rules = await loadClusterRules(copy);
      return () => checkInspectionWorlds(rules, options);
    },
  },
  {
    name: 'capacity',
    mutants: capacityMutants,
    load: async (copy, options) => {
      const rules = await loadCapacityRules(copy);
      return () => checkCapacityWorlds(rules, options);
    },
  },
  {
    name: 'dask',
    mutants: daskMutants,
    load: async (copy, options) => {
      const rules = await loadDaskRules(copy);
      return () => checkDaskWorlds(rules, options);
    },
  },
  {
    name: 'workspace',
    mutants: workspaceMutants,
    load: async (copy, options) => {
      const rules = await loadWorkspaceRules(copy);
      return () => checkWorkspaceWorlds(rules, options);
    },
  },
  {
    name: 'people',
    mutants: peopleMutants,
    load: async (copy, options) => {
      const rules = await loadWorkspaceRules(copy);
      return () => checkPeopleWorlds(rules, options);
    },
  },
  {
    name: 'look',
    mutants: lookMutants,
    load: async (copy, options) => {
      const rules = await loadLookRules(copy);
      return () => checkLookWorlds(rules, options);
    },
  },
  {
    name: 'deployment',
    mutants: deploymentMutants,
    load: async (copy, options) => {
      const rules = await loadDeploymentRules(copy);
      return () => checkDeploymentWorlds(rules, options);
    },
  },
  {
    name: 'sweep',
    mutants: sweepMutants,
    load: async (copy, options) => {
      const rules = await loadSweepRules(copy);
      return () => checkSweepWorlds(rules, options);
    },
  },
  {
    name: 'plan',
    mutants: planMutants,
    load: async (copy, options) => {
      const rules = await loadPlanRules(copy);
      return () => checkPlanWorlds(rules, options);
    },
  },
  {
    name: 'heal',
    mutants: healMutants,
    load: async (copy, options) => {
      const rules = await loadHealRules(copy);
      return () => checkHealWorlds(rules, options);
    },
  },
];

let root = '';
let copies = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'ropewalk-mutants-'));
});

afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

/** Each copy has a path of its own, so that no module of another is found in its place. */
async function copyDomain(mutant: Mutant | null): Promise<string> {
  copies += 1;
  const copy = join(root, String(copies), 'domain');
  await cp(domain, copy, { recursive: true });
  if (mutant === null) return copy;
  const path = join(copy, mutant.file);
  const parts = (await readFile(path, 'utf8')).split(mutant.from);
  expect(parts, `${mutant.file} must hold this text once: ${mutant.from}`).toHaveLength(2);
  await writeFile(path, parts.join(mutant.to));
  return copy;
}

describe.each(areas)('$name rules', ({ name, mutants, load }) => {
  it('pass as they are', { timeout }, async () => {
    expect(mutants.length).toBeGreaterThan(0);
    const check = await load(await copyDomain(null), asTheyAre);
    expect(check).not.toThrow();
  });

  it.each(mutants)('are noticed when broken: $name', { timeout }, async (mutant) => {
    const check = await load(await copyDomain(mutant), broken);
    const noticed = failureOf(check);
    expect(noticed, 'no world noticed').toMatch(/^Property failed/);
    console.log(`caught in ${name}: ${mutant.name} (${noticed.split('\n').at(-1)})`);
  });
});

/** What the check says, with the rule that was broken on the last line; empty when it says nothing. */
function failureOf(check: () => unknown): string {
  try {
    check();
    return '';
  } catch (error) {
    if (!(error instanceof Error)) return String(error);
    const rule = error.cause instanceof Error ? error.cause.message : 'no cause';
    return `${error.message}\n${rule.slice(0, 90)}`;
  }
}
