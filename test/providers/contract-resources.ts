// The promises of a provider about cloud resources besides instances. Part of contract.ts.
import { describe, expect, it } from 'vitest';

import type { ProviderHarness } from './contract.ts';
import type { Owner } from '../../providers/provider.ts';

/** `cloud`: the harness of the running test. */
export function resourcesContract(cloud: () => ProviderHarness): void {
  describe('an unused cloud resource', () => {
    const idsOf = async (deploymentId: string): Promise<string[]> =>
      (await cloud().provider.listResources(deploymentId)).map(({ id }) => id);
    const remove = (owner: Owner, ids: string[]): Promise<void> =>
      cloud().provider.deleteResources(owner, ids, AbortSignal.timeout(30_000));

    it('is listed with its owner, and deleted for no other', async () => {
      const { leaveBehind } = cloud();
      const owner = cloud().freshOwner();
      if (leaveBehind === null) return expect(await idsOf(owner.deploymentId)).toEqual([]);
      const other = cloud().freshOwner();
      const foreign = { ...cloud().freshOwner(), deploymentId: `${owner.deploymentId}_other` };
      const [mine, theirs, stranger] = [await leaveBehind(owner), await leaveBehind(other), await leaveBehind(foreign)];
      const listed = await cloud().provider.listResources(owner.deploymentId);
      expect(listed.find(({ id }) => id === mine)?.owner).toEqual(owner);
      expect(listed.find(({ id }) => id === theirs)?.owner).toEqual(other);
      expect(await idsOf(foreign.deploymentId)).toEqual([stranger]);
      await remove(owner, [mine, theirs, stranger]);
      expect(await idsOf(owner.deploymentId)).not.toContain(mine);
      expect(await idsOf(owner.deploymentId)).toContain(theirs);
      expect(await idsOf(foreign.deploymentId)).toEqual([stranger]);
    });

    it('can be deleted twice, and unknown ids are accepted', async () => {
      const { leaveBehind } = cloud();
      const owner = cloud().freshOwner();
      const ids = ['vol-00000000000000000', ...(leaveBehind === null ? [] : [await leaveBehind(owner)])];
      await remove(owner, ids);
      await remove(owner, ids);
      await remove(owner, []);
      expect(await idsOf(owner.deploymentId)).toEqual([]);
    });

    it('is never one that a running instance uses', async () => {
      const { provider } = cloud();
      const owner = cloud().freshOwner();
      const { launched } = await provider.launch(cloud().request(owner, 1));
      const kinds = (await provider.listResources(owner.deploymentId)).map(({ kind }) => kind);
      expect(kinds).not.toContain('volume');
      const ids = await idsOf(owner.deploymentId);
      await remove(owner, [...ids, ...launched.map(({ id }) => id)]);
      expect((await provider.describe(owner, [])).map(({ id }) => id)).toEqual(launched.map(({ id }) => id));
    });
  });
}
