// The machines of a retry with more memory: a factor of the job's memory, or a size.
import { RopewalkError } from '../../domain/errors.ts';
import { parseBytes } from '../../domain/units.ts';
import type { MachinesInput } from '../../schema/machines-spec.ts';

/** Memory of an instance without requirements, as domain/offers chooses: four vCPUs with four times as many GiB. */
const defaultMemory = '16 GiB';

/** Throws VALIDATION, field `memory`. */
export function withMemory(asked: MachinesInput, memory: string): MachinesInput {
  const { worker, head } = asked;
  if (worker.types !== undefined)
    throw invalid(
      'the job names its instance types',
      'Submit it again with --vm-type, and --array with the failed ids.',
    );
  const factor = /^(\d+(?:\.\d+)?)x$/i.exec(memory.trim())?.[1];
  const wanted = factor === undefined ? memory : times(worker.memory ?? defaultMemory, Number(factor));
  // The requested vCPUs belonged to the previous memory.
  const changed = { ...worker, memory: wanted, cpu: undefined };
  return { ...asked, worker: changed, head: head.types === undefined ? changed : head };
}

function times(memory: string | readonly [string, string], factor: number): string | [string, string] {
  if (factor < 1 || factor > 64) throw invalid('the factor is not between 1 and 64');
  const scaled = (text: string): string => `${Math.round((parseBytes(text, 'memory') * factor) / 2 ** 20)} MiB`;
  return typeof memory === 'string' ? scaled(memory) : [scaled(memory[0]), scaled(memory[1])];
}

const invalid = (why: string, hint = 'For example 2x, or 64 GiB.') =>
  new RopewalkError({ code: 'VALIDATION', field: 'memory', message: `memory: ${why}.`, hint });
