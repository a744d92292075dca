// R3: a lost answer never causes a second instance. 1,000 launches of one instance each, every tenth answer lost after its
// effect, instances shown up to a minute late. Time is simulated: Ropewalk's own call rate and the cloud's delays cost no real
// time.
import { describe, expect, it } from 'vitest';

import { freshOwner } from '../providers/launch-requests.ts';
import { clouds } from '../support/clouds.ts';
import { launchUntilAnswered } from './cluster.ts';

const asked = 1_000;
const atOnce = 10;

describe.each(clouds)('launches on $title whose answers are lost', ({ launchCall, startInSimulatedTime, title }) => {
  it('make as many instances as were asked for, one for each launch', { timeout: 120_000 }, async () => {
    const cloud = await startInSimulatedTime();
    try {
      const { emulator, provider, wait, workersRequest } = cloud;
      await emulator.send({ op: 'throttle', on: true });
      await emulator.send({ op: 'loseAnswers', action: launchCall, share: 0.1, seed: 3 });
      await emulator.send({ op: 'loseAnswers', action: 'CreateLaunchTemplate', share: 0.1, seed: 4 });
      await emulator.send({ op: 'delays', visibleUpToMs: 60_000 });
      const requests = Array.from({ length: asked }, () => workersRequest(freshOwner(), 1));
      const launched: string[] = [];
      const next = async (): Promise<void> => {
        for (let request = requests.pop(); request !== undefined; request = requests.pop()) {
          const outcome = await launchUntilAnswered(cloud, request);
          launched.push(...outcome.launched.map(({ id }) => id));
        }
      };
      await Promise.all(Array.from({ length: atOnce }, next));

      const { injected } = await emulator.counts();
      const { entries, live } = await emulator.ledger();
      const perToken = Map.groupBy(entries, ({ clientToken }) => clientToken);
      const visible = async (): Promise<number> => (await provider.list('d_test')).length;
      const before = await visible();
      await wait(60_000);
      console.log(
        `R3 on ${title}: ${asked} asked, ${live.length} launched, ${injected[`${launchCall} lost`]} answers of launches lost, ${before} shown at once, ${await visible()} a minute later`,
      );
      expect(injected[`${launchCall} lost`]).toBeGreaterThanOrEqual(90);
      expect(Object.keys(injected).filter((name) => name.endsWith('throttled'))).toEqual([]);
      expect([live.length, new Set(launched).size, launched.length]).toEqual([asked, asked, asked]);
      expect([perToken.size, Math.max(...[...perToken.values()].map((each) => each.length))]).toEqual([asked, 1]);
      expect(before).toBeLessThan(asked);
      expect(await visible()).toBe(asked);
    } finally {
      await cloud.close();
    }
  });
});
