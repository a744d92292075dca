// The clouds that this agent runs on. ROPEWALK_CLOUD, set by the provider's user data, names one; without it the agent is a
// process on a Temporal worker's machine.
import type { Start, StartInput } from './lifecycle/start-input.ts';

type StartOnCloud = (input: StartInput) => Promise<Start>;

const clouds: Readonly<Record<string, () => Promise<StartOnCloud>>> = {
  aws: async () => (await import('./aws/start.ts')).startOnEc2,
  gcp: async () => (await import('./gcp/start.ts')).startOnGce,
};

/** Null on a Temporal worker's machine. The returned function loads the cloud's code. */
export function cloudStart(environment: Record<string, string | undefined>): (() => Promise<StartOnCloud>) | null {
  return clouds[environment['ROPEWALK_CLOUD'] ?? ''] ?? null;
}
