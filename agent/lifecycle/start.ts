// What an agent has to know before it can call home: from a file on the machine of a Temporal worker, from the metadata service
// on a cloud, where it also begins to send its logs.
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
