// Sorts the options of a script's header and of the request into those with effect, those without effect and refused ones.
import type { BatchHeader, HeaderOption } from '../batch-header.ts';
import { RopewalkError } from '../errors.ts';
import { nearName } from '../near-name.ts';
import { fieldOf, type KnownOptions } from './header-values.ts';
import { machineOptions } from './machine-options.ts';
import { noEffect, refused } from './options.ts';
import { runtimeOptions } from './runtime-options.ts';

const honoured = new Set([
  'name',
  'ntasks',
  'array',
  'map-over-values',
  'map-over-delimiter',
  'map-over-input-var',
  'max-workers',
  'task-on-scheduler',
  'no-task-on-scheduler',
  'scheduler-task-array',
  'wait-for-ready-cluster',
  'after',
  'after-ok',
  'priority',
  'retries',
  'retry-on-exit',
  'task-timeout',
  'job-timeout',
  'max-cost',
  'lease',
  'watchdog-timeout',
  'env',
  'secret-env',
  'pipe-to-files',
  'input-filestore',
  'output-filestore',
]);

export interface SentOptions {
  options?: Readonly<Record<string, string>> | undefined;
  clientOptions?: readonly string[] | undefined;
}

/**
 * The last occurrence of an option counts, as on a command line.
 *
 * @throws RopewalkError VALIDATION that names every option that is unknown or would change the run.
 */
export function readHeader(
  header: BatchHeader,
  { options: sent = {}, clientOptions = [] }: SentOptions,
  choosesMachines: boolean,
): { known: KnownOptions; warnings: string[] } {
  const known = new Map<string, HeaderOption>();
  const script = header.file ?? 'the script';
  const warnings = new Set(header.problems.map(({ line, message }) => `Line ${line} of ${script}: ${message}.`));
  for (const text of header.slurm ?? []) warnings.add(`${script}: ${text}.`);
  const unusable: Unusable[] = [];
  const judge = (name: string, place: HeaderOption | null): void => {
    const found = judgeOption(name, place, { script, suggests: unusable.length < maxReported });
    if (typeof found === 'string') warnings.add(found);
    else unusable.push(found);
  };
  for (const option of header.options) {
    if (clientOptions.includes(option.name) || runtimeOptions.has(option.name)) continue;
    if (honoured.has(option.name)) known.set(option.name, option);
    else if (choosesMachines && machineOptions.has(option.name)) continue;
    // The request's option counts; the header's line would only be reported a second time.
    else if (!Object.hasOwn(sent, option.name)) judge(option.name, option);
  }
  for (const name of Object.keys(sent)) {
    if (runtimeOptions.has(name)) continue;
    if (!choosesMachines || !machineOptions.has(name)) judge(name, null);
  }
  throwUnusable(unusable);
  return { known, warnings: [...warnings] };
}

interface Unusable {
  message: string;
  field: string;
  hint: string;
}

/**
 * Returns the warning for an option without effect, or the problem with an unusable one. `suggests`: the comparison with all known names takes a
 * fifth of a millisecond, too much for each of thousands.
 */
function judgeOption(
  name: string,
  place: HeaderOption | null,
  { script, suggests }: { script: string; suggests: boolean },
): string | Unusable {
  const effect = noEffect.get(name);
  if (effect !== undefined)
    return `${name}${place === null ? '' : ` (line ${place.line})`} has no effect here: ${effect}.`;
  const at = place === null ? '' : `Line ${place.line}, column ${place.column} of ${script}: `;
  const field = place === null ? `options.${name}` : fieldOf(name);
  const why = refused.get(name);
  if (why !== undefined)
    return { message: `${at}${name} is not supported: ${why}`, field, hint: 'Leave it out to run without.' };
  const near = suggests ? nearName(name, allNames) : null;
  const meant = near === null ? '' : `; did you mean ${near}?`;
  const write = near === null ? '' : `Write ${near}. `;
  return { message: `${at}${name} is not an option${meant}`, field, hint: `${write}${allOptions}` };
}

const allNames = [...honoured, ...runtimeOptions, ...machineOptions, ...noEffect.keys(), ...refused.keys()];
const allOptions = 'docs/batch-options.md describes all options.';
const maxReported = 20;

/** Reports all problems in one error, so the user edits the script once. */
function throwUnusable(all: readonly Unusable[]): void {
  const [first, ...others] = all;
  if (first === undefined) return;
  const listed = all.slice(0, maxReported).map(({ message }) => message);
  const more = all.length > maxReported ? ` There are ${all.length - maxReported} more.` : '';
  const message = listed
    .map((text, at) => (at < listed.length - 1 && !text.endsWith('?') ? `${text}.` : text))
    .join(' ');
  const hints = new Set(others.map(({ hint }) => hint)).add(first.hint);
  const hint = hints.size === 1 ? first.hint : `Correct or remove them. ${allOptions}`;
  throw new RopewalkError({ code: 'VALIDATION', message: `${message}${more}`, field: first.field, hint });
}
