// The metrics of one process, for Prometheus. Every label has few predefined values: never a path, a name, a number or anything
// else that a caller chooses.
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** Includes the Node process's own metrics: memory, event loop, garbage collection. */
export function createRegistry(program: 'api' | 'worker', version: string): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'ropewalk_build_info',
    help: 'Always 1: what runs here.',
    labelNames: ['program', 'version', 'node'],
    registers: [registry],
  }).set({ program, version, node: process.version }, 1);
  return registry;
}

/** Seconds, from a cached read to a request cut off by a deadline. */
export const durationBuckets = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100];
