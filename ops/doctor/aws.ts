// EC2, where it is configured: can the settings be read, do the credentials work, does a Temporal worker launch there, and does
// the sweep go there.
import { type Client, ScheduleNotFoundError } from '@temporalio/client';

import { cloudQueue } from '../../domain/cloud-names.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { sweepScheduleId } from '../../workflows/sweep/messages.ts';
import { awsSettingsPath, readAwsFile } from '../clouds.ts';
import { hasPoller } from '../pollers.ts';
import { withTemporal } from '../temporal.ts';
import { broken, ok, warning, type Finding, type Patient } from './finding.ts';

const queue = cloudQueue('aws');
const answerWithinMs = 10_000;

export async function checkAws({ env, home }: Patient): Promise<Finding[]> {
  const path = awsSettingsPath(env);
  if (path === null) return [];
  return [...(await checkAccount(path)), ...(await checkPlaces(env, home))];
}

async function checkAccount(path: string): Promise<Finding[]> {
  let region: string;
  try {
    region = readAwsFile(path).region;
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    return [broken('aws settings', error.problem.message, error.problem.hint ?? '')];
  }
  const settings = ok('aws settings', path);
  // Heavy, and of use to those alone who have an account.
  const { whoCalls } = await import('../../providers/aws/caller.ts');
  try {
    const { arn } = await whoCalls(region, AbortSignal.timeout(answerWithinMs));
    return [settings, ok('aws credentials', arn)];
  } catch (error) {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const fix =
      'Give this process what the API and the Temporal workers have: AWS_PROFILE, AWS_ACCESS_KEY_ID, or a role.';
    return [settings, broken('aws credentials', `AWS does not take them: ${text}`, fix)];
  }
}

async function checkPlaces(env: Patient['env'], home: string): Promise<Finding[]> {
  try {
    return await withTemporal({ env, home }, async ({ client }) => [
      await checkWorker(client),
      await checkSweep(client),
    ]);
  } catch (error) {
    // What is wrong with Temporal itself is another check's to say.
    if (error instanceof RopewalkError) return [];
    throw error;
  }
}

async function checkWorker(client: Client): Promise<Finding> {
  if (await hasPoller(client, queue, 'activities')) return ok('ec2 worker', `a Temporal worker polls ${queue}`);
  const text = `no Temporal worker polls ${queue}: nothing is launched or ended on EC2`;
  return broken('ec2 worker', text, 'Start one with ROPEWALK_AWS_SETTINGS set.');
}

async function checkSweep(client: Client): Promise<Finding> {
  try {
    const { state } = await client.schedule.getHandle(sweepScheduleId(queue)).describe();
    if (!state.paused) return ok('ec2 sweep', `${sweepScheduleId(queue)} is scheduled`);
    return warning('ec2 sweep', `${sweepScheduleId(queue)} is paused`, 'Unpause the schedule in Temporal.');
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    const fix = 'Run, with ROPEWALK_AWS_SETTINGS set: ropewalk init';
    return broken('ec2 sweep', 'is not scheduled: what a crash leaves on EC2 is not found', fix);
  }
}
