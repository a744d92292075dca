// The processes and ports of this machine.
import { connect } from 'node:net';
import { join } from 'node:path';

import { z } from 'zod';

import { readJson } from '../files.ts';
import { processesLeft } from '../processes.ts';
import { exists } from '../../providers/local/files.ts';
import { isSameProcess } from '../../providers/local/processes.ts';
import { broken, ok, warning, type Finding, type Patient } from './finding.ts';

const lockFile = z.object({ pid: z.number(), startTime: z.string() });
const portsFile = z.record(z.string(), z.object({ port: z.number() }));

/** A stack keeps its ports for the next start, so no other program may use them. */
export async function checkPorts({ home }: Patient): Promise<Finding[]> {
  const ports = (await readJson(join(home, 'ports.json'), portsFile)) ?? {};
  const isRunning = await hasStack(home);
  const findings: Finding[] = [];
  for (const [name, { port }] of Object.entries(ports)) {
    const isTaken = await answers(port);
    if (isRunning && !isTaken && name === 'api') {
      const fix = 'Its own lines, in the terminal of ropewalk dev, say why.';
      findings.push(broken(`port ${port}`, 'the stack runs, and its API does not listen', fix));
    } else if (!isRunning && isTaken) {
      const fix = `Find it with: ss -ltnp 'sport = :${port}'; end it, or delete ports.json when no agents of an earlier run matter.`;
      findings.push(broken(`port ${port}`, `another program has the port that ${name} kept`, fix));
    } else findings.push(ok(`port ${port}`, `${name}: ${isTaken ? 'in use by the stack' : 'free for the next start'}`));
  }
  return findings;
}

export async function checkProcesses({ home }: Patient): Promise<Finding[]> {
  if (!(await exists(join(home, 'run')))) return [ok('processes', 'ropewalk dev has not run in this home')];
  if (await hasStack(home)) return [ok('processes', 'a stack runs in this home')];
  const left = await processesLeft(home);
  if (left.length === 0) return [ok('processes', 'none is left of an earlier stack')];
  const named = left.slice(0, 5).map(({ name, pid }) => `${name} (${pid})`);
  const text = `${left.length} left of a stack that did not end in order: ${named.join(', ')}`;
  return [warning('processes', text, 'The next ropewalk dev adopts the instances and ends the rest.')];
}

export async function checkAgentBundle({ env }: Patient): Promise<Finding[]> {
  const path = env['ROPEWALK_AGENT_BUNDLE'];
  if (path === undefined || path === '') return [];
  if (await exists(path)) return [ok('agent bundle', path)];
  return [
    broken(
      'agent bundle',
      `${path} is not there`,
      'Run npm run build, and set ROPEWALK_AGENT_BUNDLE to dist/agent.mjs.',
    ),
  ];
}

async function hasStack(home: string): Promise<boolean> {
  const owner = await readJson(join(home, 'lock'), lockFile);
  return owner !== null && isSameProcess(owner);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const done = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.setTimeout(1_000, () => done(false));
    socket.once('connect', () => done(true)).once('error', () => done(false));
  });
}
