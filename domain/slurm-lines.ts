// `#SBATCH` lines at the top of a script. Ropewalk does not read them; a warning names the option that does the same.

/** Nothing of a value is repeated, which may be a secret, but for those of --array: both read the same lists. */
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

const maxNamed = 10;

/** One sentence without its full stop; null for a script without such lines. `written`: options of its own header. */
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
