// Checks of the programs that Ropewalk needs.
import { execFile } from 'node:child_process';

import { broken, ok, warning, type Finding, type Patient } from './finding.ts';

const wantedNode = 24;
const wantedPython = [3, 10] as const;

export async function checkTools({ env }: Patient): Promise<Finding[]> {
  return [nodeFinding(process.version), await pythonFinding(env), await uvFinding(env)];
}

export function nodeFinding(version: string): Finding {
  const major = Number(/^v(\d+)/.exec(version)?.[1]);
  if (major >= wantedNode) return ok('node', version);
  return broken(
    'node',
    `${version} is too old`,
    `Run it with Node ${wantedNode}: npm ci brings it, node_modules/.bin/node.`,
  );
}

async function pythonFinding(env: Patient['env']): Promise<Finding> {
  const said = await versionOf('python3', env);
  const [, major, minor] = /Python (\d+)\.(\d+)/.exec(said ?? '') ?? [];
  const fix = `Dask clusters on this machine need Python ${wantedPython.join('.')} or newer; batch jobs do not.`;
  if (said === null || major === undefined) return warning('python', 'python3 was not found', fix);
  const isNew = Number(major) > wantedPython[0] || Number(minor) >= wantedPython[1];
  return isNew ? ok('python', `${major}.${minor}`) : warning('python', `${major}.${minor} is too old`, fix);
}

/** An agent downloads uv when it is missing. */
async function uvFinding(env: Patient['env']): Promise<Finding> {
  const said = await versionOf('uv', env);
  return ok('uv', said?.trim() ?? 'not installed; agents fetch their own when they first build an environment');
}

/** null when the program is missing or does not answer. */
function versionOf(program: string, env: Patient['env']): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(program, ['--version'], { timeout: 5_000, env }, (error, stdout, stderr) =>
      resolve(error === null ? `${stdout}${stderr}` : null),
    );
  });
}
