import { readFile } from 'node:fs/promises';

import { describe, expect, it } from 'vitest';

import { defaultConfigPath, parseDevConfig } from '../../dev/config.ts';

describe('temporal-dev.yml', () => {
  it('of this checkout is valid and durable', async () => {
    const config = parseDevConfig(await readFile(defaultConfigPath, 'utf8'), defaultConfigPath);
    expect(config.temporal.sqlitePragmas).toEqual({ journal_mode: 'wal', synchronous: 'full' });
    expect(config.namespace).toEqual({ name: 'ropewalk', retentionDays: 30 });
  });

  it('is refused with all its problems at once, each by its path', () => {
    const text = [
      'temporal: { version: 1.8.0, speed: fast }',
      'namespace: { name: "", retentionDays: 0 }',
      'worker: { count: many }',
      'ports: { temporal: 7233, ui: auto, api: 70000 }',
    ].join('\n');
    expect(() => parseDevConfig(text, 'x.yml')).toThrow(
      /x\.yml has problems[\s\S]*temporal\.version[\s\S]*namespace\.name[\s\S]*namespace\.retentionDays[\s\S]*worker\.count[\s\S]*ports\.api/,
    );
    expect(() => parseDevConfig(text, 'x.yml')).toThrow(/speed/);
    expect(() => parseDevConfig('a: [', 'x.yml')).toThrow(/x\.yml is not YAML/);
  });
});
