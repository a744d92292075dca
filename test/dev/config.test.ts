import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';

import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { defaultConfigPath, localInstances, parseDevConfig } from '../../dev/config.ts';

describe('temporal-dev.yml', () => {
  it('of this checkout is valid and durable', async () => {
    const config = parseDevConfig(await readFile(defaultConfigPath, 'utf8'), defaultConfigPath);
    expect(config.temporal.sqlitePragmas).toEqual({ journal_mode: 'wal', synchronous: 'full' });
    expect(config.namespace).toEqual({ name: 'ropewalk', retentionDays: 30 });
  });

  it('says in words what `auto` means for the number of local instances', async () => {
    const text = await readFile(defaultConfigPath, 'utf8');
    const times = { two: 2, four: 4, eight: 8, sixteen: 16 };
    const word = z
      .enum(['two', 'four', 'eight', 'sixteen'])
      .parse(/auto is (\w+) times the number of cores/.exec(text)?.[1]);
    const config = parseDevConfig(text, defaultConfigPath);
    expect(config.worker.maxLocalInstances).toBe('auto');
    expect(localInstances(config)).toBe(times[word] * availableParallelism());
  });

  it('is refused with all its problems at once, each by its path', () => {
    const text = [
      'temporal: { version: 1.8.0, speed: fast }',
      'namespace: { name: "", retentionDays: 0 }',
      'worker: { count: many }',
      'ports: { temporal: 7233, ui: auto, api: 70000, dashboards: auto }',
    ].join('\n');
    expect(() => parseDevConfig(text, 'x.yml')).toThrow(
      /x\.yml has problems[\s\S]*temporal\.version[\s\S]*namespace\.name[\s\S]*namespace\.retentionDays[\s\S]*worker\.count[\s\S]*ports\.api/,
    );
    expect(() => parseDevConfig(text, 'x.yml')).toThrow(/speed/);
    expect(() => parseDevConfig('a: [', 'x.yml')).toThrow(/x\.yml is not YAML/);
  });
});
