// Sends heartbeats while an effect is under way, so the server notices a killed Temporal worker in seconds, not minutes.
import { Context } from '@temporalio/activity';

const heartbeatEveryMs = 1_000;

export async function heartbeating<T>(effect: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), heartbeatEveryMs);
  try {
    return await effect();
  } finally {
    clearInterval(timer);
  }
}
