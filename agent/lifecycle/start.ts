// Reads the data that an agent needs before it can call the API: from a file on a Temporal worker's machine, from the metadata
// service on a cloud, where it also starts sending its logs.
import { cloudStart } from '../clouds.ts';
import { readBoot } from './boot.ts';
import type { Start, StartInput } from './start-input.ts';

export async function start(input: StartInput): Promise<Start> {
  const { directory, environment } = input;
  const cloud = cloudStart(environment);
  if (cloud !== null) return (await cloud())(input);
  const instance = environment['ROPEWALK_INSTANCE'] ?? '';
  return { instance, boot: await readBoot(directory), flush: () => Promise.resolve() };
}
