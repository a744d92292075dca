// Each file of the part `full` runs in CI within shareCount days, or is named with the reason why it does not.
import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { fullFiles } from './full-files.ts';
import { root, runProgram } from './run-program.ts';
import { filesOfShare, inNoShare, parseShare, shareCount, shareOfDay } from './shares.ts';

const day = 86_400_000;
const numbers = Array.from({ length: shareCount }, (_, index) => index + 1);
const files = fullFiles(root);
const shares = numbers.map((share) => filesOfShare(files, share));

it('each part of test:all is run by CI or by test:nightly, and full by both', async () => {
  const words = (text: string | undefined): string[] => text?.trim().split(' ') ?? [];
  const { output } = await runProgram(process.execPath, ['test/run.ts', '--all', 'none'], { quiet: true });
  const all = words(/no part none: (.*)$/m.exec(output)?.[1]).map((name) => name.replace(',', ''));
  const ci = words(/^parts=\((.*)\)$/m.exec(readFileSync(`${root}/.ci/run`, 'utf8'))?.[1]);
  const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
  const nightly = words(/^npm run test:all -- (.*)$/.exec(scripts['test:nightly'])?.[1]);
  expect([...ci, ...nightly].toSorted()).toEqual([...all, 'full'].toSorted());
});

describe('the shares of the part full', () => {
  it('have each of its files once, except those that are named with a reason', () => {
    expect([...shares.flat(), ...Object.keys(inNoShare)].toSorted()).toEqual(files);
    expect(files).toContain('test/relay/stack.full.test.ts');
    // The part clouds has this one.
    expect(files).not.toContain('test/live/live.full.test.ts');
  });

  it('have no file that skips tests without podman or without root', () => {
    const needs = /hasPodman|unshare|isRoot/;
    expect(shares.flat().filter((path) => needs.test(readFileSync(`${root}/${path}`, 'utf8')))).toEqual([]);
  });

  it('stay as they are when files are added, and have about as many of these', () => {
    const many = Array.from({ length: 300 }, (_, index) => `test/new/${index}.full.test.ts`);
    for (const share of numbers) {
      const [before, after] = [shares[share - 1] ?? [], filesOfShare([...many, ...files], share)];
      expect(after).toEqual(expect.arrayContaining(before));
      expect(before.length).toBeGreaterThan(files.length / 5);
      expect(after.length - before.length).toBeGreaterThan(75);
    }
  });

  it('follow each other day by day, the same for all runs of a day', () => {
    const days = Array.from({ length: 2 * shareCount }, (_, index) => shareOfDay(index * day));
    expect(days).toEqual([...numbers, ...numbers]);
    expect(shareOfDay(5 * day - 1)).toBe(shareOfDay(4 * day));
  });

  it('are named by their number, or by the day', () => {
    expect(parseShare('2/3', 0)).toBe(2);
    expect(parseShare('today', 2 * day + 1)).toBe(3);
    for (const text of ['0/3', '4/3', '2/4', '2', '', 'tomorrow', '1/3/5'])
      expect(() => parseShare(text, 0)).toThrow(`there is no share ${text}: today, or 1/3 to 3/3`);
  });
});
