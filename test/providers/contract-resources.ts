// What every provider promises of what it keeps for clusters besides their instances. Part of providers/contract.ts.
import { describe, expect, it } from 'vitest';

import type { ProviderHarness } from './contract.ts';
import type { Owner } from '../../providers/provider.ts';

/** `cloud`: the one of the test that runs. */
export function belongingsContract(cloud: () => ProviderHarness): void {
  describe('what is left behind', () => {
    const idsOf = async (deploymentId: string): Promise<string[]> =>
      (await cloud().provider.listBelongings(deploymentId)).map(({ id }) => id);
    const remove = (owner: Owner, ids: string[]): Promise<void> =>
      cloud().provider.removeBelongings(owner, ids, AbortSignal.timeout(30_000));

    it('is listed with its owner, and removed for nobody else', async () => {
      const { leaveBehind } = cloud();
      const owner = cloud().freshOwner();
      if (leaveBehind === null) return expect(await idsOf(owner.deploymentId)).toEqual([]);
      const other = cloud().freshOwner();
      const foreign = { ...cloud().freshOwner(), deploymentId: `${owner.deploymentId}_other` };
      const [mine, theirs, stranger] = [await leaveBehind(owner), await leaveBehind(other), await leaveBehind(foreign)];
      const listed = await cloud().provider.listBelongings(owner.deploymentId);
      expect(listed.find(({ id }) => id === mine)?.owner).toEqual(owner);
      expect(listed.find(({ id }) => id === theirs)?.owner).toEqual(other);
      expect(await idsOf(foreign.deploymentId)).toEqual([stranger]);
      await remove(owner, [mine, theirs, stranger]);
      expect(await idsOf(owner.deploymentId)).not.toContain(mine);
      expect(await idsOf(owner.deploymentId)).toContain(theirs);
      expect(await idsOf(foreign.deploymentId)).toEqual([stranger]);
    });

    it('may be removed twice, and ids that nobody knows are taken', async () => {
      const { leaveBehind } = cloud();
      const owner = cloud().freshOwner();
      const ids = ['vol-00000000000000000', ...(leaveBehind === null ? [] : [await leaveBehind(owner)])];
      await remove(owner, ids);
      await remove(owner, ids);
      await remove(owner, []);
      expect(await idsOf(owner.deploymentId)).toEqual([]);
    });

    it('is never what a living instance has', async () => {
      const { provider } = cloud();
      const owner = cloud().freshOwner();
      const { launched } = await provider.launch(cloud().request(owner, 1));
      const kinds = (await provider.listBelongings(owner.deploymentId)).map(({ kind }) => kind);
      expect(kinds).not.toContain('volume');
      const ids = await idsOf(owner.deploymentId);
      await remove(owner, [...ids, ...launched.map(({ id }) => id)]);
      expect((await provider.describe(owner, [])).map(({ id }) => id)).toEqual(launched.map(({ id }) => id));
    });
  });
}
