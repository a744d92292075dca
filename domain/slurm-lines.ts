// Finds Slurm features in a script: `#SBATCH` lines at its top, which Ropewalk ignores, and variables that only Slurm sets. Warnings name the
// equivalent options and variables.

/** Values may be secret, so warnings quote none except those of --array, where both accept the same lists. */
const equivalents = new Map([
  ['array', 'array'],
  ['job-name', 'name'],
  ['time', 'task-timeout'],
  ['mem', 'memory'],
  ['cpus-per-task', 'cpu'],
  ['gres', 'gpu'],
  ['gpus', 'gpu'],
  ['dependency', 'after-ok'],
  ['export', 'env'],
  ['a', 'array'],
  ['J', 'name'],
  ['t', 'task-timeout'],
  ['c', 'cpu'],
  ['G', 'gpu'],
  ['d', 'after-ok'],
]);

const variables = new Map([
  ['SLURM_ARRAY_TASK_ID', 'ROPEWALK_BATCH_TASK_ID'],
  ['SLURM_ARRAY_TASK_COUNT', 'ROPEWALK_BATCH_TASK_COUNT'],
  ['SLURM_ARRAY_JOB_ID', 'ROPEWALK_CLUSTER_ID'],
  ['SLURM_JOB_ID', 'ROPEWALK_CLUSTER_ID'],
  ['SLURM_JOB_NAME', 'ROPEWALK_CLUSTER_NAME'],
]);

const maxNamed = 10;

/**
 * Finds Slurm variables, which are empty here, so a task would continue without their values. A script that uses Ropewalk's task variables supports
 * both systems and gets no warning. Returns one sentence without its full stop; null when there is none.
 */
export function describeSlurmVariables(lines: readonly string[]): string | null {
  if (lines.some((content) => ownVariable.test(content))) return null;
  const found = new Map<string, string>();
  for (const [index, content] of lines.entries()) {
    if (content.trimStart().startsWith('#')) continue;
    for (const [, name = ''] of content.matchAll(slurmVariable)) {
      const same = variables.get(name);
      if (same !== undefined && !found.has(name)) found.set(name, `${name} (line ${index + 1}: read ${same})`);
    }
  }
  return found.size === 0 ? null : `Slurm's variables are not set: ${[...found.values()].join(', ')}`;
}

const ownVariable = /\b(?:ROPEWALK|COILED)_(?:BATCH|ARRAY)_TASK_/;
const slurmVariable = /\b(SLURM_[A-Z_]{1,40})\b(?!=)/g;

/** Returns one sentence without its full stop; null for a script without such lines. `written`: options of the script's own header. */
export function describeSlurmLines(lines: readonly string[], written: ReadonlySet<string>): string | null {
  const unread = lines.flatMap((content, index) => {
    const option = slurmLine.exec(content);
    if (option === null) return [];
    const name = option[2] ?? '';
    const same = equivalents.get(name);
    if (same !== undefined && written.has(same)) return [];
    const value = same === 'array' && /^[\d,:%-]+$/.test(option[3] ?? '') ? ` ${option[3]}` : '';
    const instead = same === undefined ? '' : `: write # ROPEWALK ${same}${value}`;
    return [`line ${index + 1} (${option[1]}${name}${instead})`];
  });
  if (unread.length === 0) return null;
  const more = unread.length > maxNamed ? ` and ${unread.length - maxNamed} more` : '';
  return `#SBATCH lines are not read: ${unread.slice(0, maxNamed).join(', ')}${more}`;
}

const slurmLine = /^#SBATCH[ \t]+(--?)([A-Za-z][A-Za-z-]{0,40})(?:[= \t]*)([^\s]*)/;
