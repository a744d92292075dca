// The progress of a job: a bar, tasks per second since its first task, and the remaining time at that rate.
import type { Job } from '../sdk/client.ts';

const width = 20;

/** `[#########           ] 45 %, 2.5/s, 22 s left`; empty before the first task has started and after the end. */
export function formatBar({ tasks, startedAt, endedAt }: Job, nowMs = Date.now()): string {
  const run = tasks.done + tasks.error;
  const ended = run + tasks.cancelled;
  if (startedAt === null || endedAt !== null || tasks.total === 0) return '';
  const filled = Math.floor((ended / tasks.total) * width);
  const bar = `[${'#'.repeat(filled).padEnd(width)}] ${Math.floor((100 * ended) / tasks.total)} %`;
  const seconds = (nowMs - Date.parse(startedAt)) / 1_000;
  if (run === 0 || seconds <= 0) return bar;
  // Excludes cancelled tasks, because cancelling takes no time.
  const rate = run / seconds;
  return `${bar}, ${formatRate(rate)}, ${formatLeft((tasks.total - ended) / rate)} left`;
}

/** Slow jobs show tasks per minute or hour, because `0.0/s` is meaningless. */
function formatRate(perSecond: number): string {
  if (perSecond >= 0.1) return `${perSecond.toFixed(1)}/s`;
  return perSecond * 60 >= 0.1 ? `${(perSecond * 60).toFixed(1)}/min` : `${(perSecond * 3_600).toFixed(1)}/h`;
}

function formatLeft(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} m ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} m`;
}
