// An image in a real registry that requires a password, pulled by real podman: with credentials of the caller, with the
// instance's own login, and with neither.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { prepareContainer } from '../../agent/runtimes/container/prepare.ts';
import { loginAs, type RegistryLogin, type RegistryLogins } from '../../agent/runtimes/container/registry-login.ts';
import { hasPodman, importImage, podman, podmanConfiguration } from '../support/container-image.ts';
import { hasImageRegistry, type ImageRegistry, startImageRegistry } from '../support/image-registry.ts';

const local = 'localhost/ropewalk-private:test';

describe.runIf((await hasImageRegistry()) && (await hasPodman()))('a private registry', () => {
  let registry: ImageRegistry;
  let place: string;
  let configuration: string;
  let image: string;
  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'ropewalk-private-'));
    configuration = await podmanConfiguration(place);
    registry = await startImageRegistry();
    image = `${registry.host}/team/tool:1`;
    await importImage(configuration, local, { programs: ['/bin/sh'] });
    const login = ['--creds', `${registry.user}:${registry.password}`, '--tls-verify=false'];
    await podman(configuration, 'push', '--quiet', ...login, local, image);
    await writeFile(join(place, 'registries.conf'), `[[registry]]\nlocation = "${registry.host}"\ninsecure = true\n`);
  });
  afterAll(async () => {
    await podman(configuration, 'rmi', '--force', '--ignore', local, image);
    await registry.stop();
    await rm(place, { recursive: true });
  });
  beforeEach(() => podman(configuration, 'rmi', '--force', '--ignore', image));

  const logged: string[] = [];
  /** Whether the image exists afterwards. */
  async function prepare(registryAuth: RegistryLogins, registryLogin?: RegistryLogin): Promise<boolean> {
    logged.length = 0;
    const log = { write: (text: string) => void logged.push(text) };
    const environment = {
      ...{ PATH: process.env['PATH'], HOME: process.env['HOME'], CONTAINERS_CONF: configuration },
      CONTAINERS_REGISTRIES_CONF: join(place, 'registries.conf'),
    };
    await prepareContainer(
      { image, ignoreEntrypoint: false, registryAuth },
      {
        ...{ instance: 'i_private', directory: place, boot: { powerOff: null }, environment, log, user: null },
        stopping: new AbortController(),
        ...(registryLogin === undefined ? {} : { registryLogin }),
      },
    );
    return (await podman(configuration, 'images', '--quiet', image)) !== '';
  }
  const right = () => loginAs(registry.host, registry.user, registry.password);
  const wrong = () => loginAs(registry.host, registry.user, 'wrong');

  it("is read with the caller's credentials, also where the instance has another login", async () => {
    expect(await prepare(right(), async () => wrong())).toBe(true);
    expect(await prepare(right(), () => Promise.reject(new Error('no role')))).toBe(true);
    // The credentials are deleted after the pull.
    expect(await readdir(place)).toEqual(expect.not.arrayContaining([expect.stringMatching(/^registry-/)]));
  });

  it('is read with the login of the instance where the caller gives none', async () => {
    expect(await prepare({}, async () => right())).toBe(true);
  });

  it('is refused without either, and the reason says what is missing', async () => {
    await expect(prepare({})).rejects.toThrow(
      /could not be pulled: podman says: .*a private registry needs credentials/s,
    );
    await expect(prepare(wrong())).rejects.toThrow('could not be pulled');
    const missing = prepare({}, () => Promise.reject(new Error('this instance has no role. Attach the policy')));
    await expect(missing).rejects.toThrow('No login to the registry: this instance has no role. Attach the policy.');
  });
});
