// The command of docs/operations.md, "Replay before you deploy": a history in the form that the Temporal CLI exports replays with
// today's code, and the same history with one other step does not.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { printHistoryJson } from './history-json.ts';
import { read, repo } from './replay-history.ts';

const run = promisify(execFile);
const exported = printHistoryJson(read('job-cancelled.bin'));

describe('npm run replay', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ropewalk-replay-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('replays an exported history', async () => {
    expect(await replayed(exported)).toEqual({ code: 0, text: expect.stringMatching(/history\.json: replays\n$/) });
  });

  it('ends with 1 and says why when the code does not follow a history', async () => {
    const changed = exported.replaceAll('"name": "archiveTaskPage"', '"name": "loadCluster"');
    expect(changed).not.toBe(exported);
    const { code, text } = await replayed(changed);
    expect(code).toBe(1);
    expect(text).toContain('history.json: DeterminismViolationError');
  });

  it('ends with 1 for a file that is no history', async () => {
    expect(await replayed('{"events": []}')).toMatchObject({ code: 1, text: expect.stringContaining('not a history') });
  });

  async function replayed(history: string): Promise<{ code: unknown; text: string }> {
    const file = join(folder, 'history.json');
    await writeFile(file, history);
    return run('npm', ['run', '--silent', 'replay', '--', file], { cwd: repo }).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      (error: Error & { code: unknown; stdout: string }) => ({ code: error.code, text: error.stdout }),
    );
  }
});
