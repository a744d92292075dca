// A simulated world of the deployment: workspaces made twice, blocks leased in any order, answers asked for again.
import fc from 'fast-check';

import { numberBlockSize } from '../../domain/limits.ts';
import type { DeploymentState } from '../../domain/deployment/state.ts';
import type { DeploymentRules } from './rules.ts';
import { type CheckOptions, checkWorlds, type Met, must, same } from './worlds.ts';

const subjects = ['created', 'found', 'bad slug', 'leased', 'leased again', 'unknown workspace'] as const;
type Subject = (typeof subjects)[number];

/** Runs many worlds against the rules; throws when one breaks them. */
export function checkDeploymentWorlds(rules: DeploymentRules, options: CheckOptions): Record<string, number> {
  const run = (plan: DeploymentPlan, met: Met<Subject>): void => runDeploymentWorld(rules, plan, met);
  return checkWorlds({ plan: deploymentPlan, subjects, run }, options);
}

// Words that every object of the language knows are slugs like any other.
const slug = fc.constantFrom('a', 'b', 'night-shift', 'constructor', '0', 'Bad Slug', '-x', '');
const step = fc.oneof(
  fc.record({ do: fc.constant('create'), slug }),
  fc.record({ do: fc.constant('lease'), slug, repeat: fc.boolean() }),
  fc.record({ do: fc.constant('lease'), slug, repeat: fc.boolean() }),
  fc.record({ do: fc.constant('roll') }),
);
const deploymentPlan = fc.record({ steps: fc.array(step, { minLength: 8, maxLength: 30, size: 'max' }) });
type DeploymentPlan = typeof deploymentPlan extends fc.Arbitrary<infer T> ? T : never;

interface Block {
  from: number;
  to: number;
}

function runDeploymentWorld(rules: DeploymentRules, { steps }: DeploymentPlan, met: Met<Subject>): void {
  let state: DeploymentState = rules.createDeploymentState('d', 1);
  const blocks: Block[] = [];
  const made = new Set<string>();
  const leases = new Map<string, { opId: string; block: Block }>();
  const keep = (block: Block): void => {
    must(block.to - block.from + 1 === numberBlockSize, () => `a block from ${block.from} to ${block.to}`);
    const overlaps = blocks.some((other) => block.from <= other.to && other.from <= block.to);
    must(!overlaps, () => `numbers from ${block.from} were leased twice`);
    blocks.push(block);
  };
  for (const [n, each] of steps.entries()) {
    const before = JSON.stringify(state);
    if (each.do === 'roll') {
      const copy: DeploymentState = JSON.parse(before);
      state = copy;
    } else if (each.do === 'create') {
      const answer = rules.createWorkspace(state, each.slug, n);
      if ('error' in answer) {
        met('bad slug');
        must(!/^[a-z0-9]/.test(each.slug) && before === JSON.stringify(state), () => `${each.slug} was refused`);
        continue;
      }
      met(answer.ok.existing ? 'found' : 'created');
      must(answer.ok.existing === made.has(each.slug), () => `${each.slug} exists: ${answer.ok.existing}?`);
      const block = Object.hasOwn(state.workspaces, each.slug) ? state.workspaces[each.slug]?.firstBlock : undefined;
      must(block !== undefined, () => `${each.slug} was not made`);
      if (!answer.ok.existing) keep(block);
      else must(before === JSON.stringify(state), () => 'finding a workspace changed it');
      made.add(each.slug);
    } else {
      const last = leases.get(each.slug);
      const opId = each.repeat && last !== undefined ? last.opId : `${each.slug}/${n}`;
      const answer = rules.leaseNumbers(state, each.slug, opId);
      must('ok' in answer === made.has(each.slug), () => `a lease of ${each.slug}: ${JSON.stringify(answer)}`);
      if ('error' in answer) {
        met('unknown workspace');
        continue;
      }
      if (last?.opId === opId) {
        met('leased again');
        must(same(answer.ok, last.block), () => 'the same lease asked for twice got another block');
        must(before === JSON.stringify(state), () => 'the same lease asked for twice changed the state');
        continue;
      }
      met('leased');
      keep(answer.ok);
      leases.set(each.slug, { opId, block: answer.ok });
    }
  }
}
