// The Python environments for comparing the emulator and the provider with software of other authors: boto3, AWS's own SDK for
// Python, and moto, an emulated AWS. Installed once and kept.
import { join } from 'node:path';

import { ensureEnvironment } from '../../../agent/runtimes/environment/environment.ts';

/** Only moto's parts for EC2, STS, SSM and CloudWatch Logs: all of moto is three times as large. */
const requirements = ['boto3==1.44.5', 'moto[ec2]==5.2.5', 'flask==3.1.3', 'flask-cors==6.0.5'];

/** Path of its interpreter. Rejects when no package index is reachable. */
export const crossPython = (): Promise<string> => pythonWith('aws-python', requirements);

/** With the linters of policies and templates; parliament imports modules that came with setuptools. */
export const lintPython = (): Promise<string> =>
  pythonWith('lint-python', ['parliament==1.6.4', 'cfn-lint==1.58.0', 'setuptools==80.9.0']);

/** Google's own client, which contains the discovery documents of its APIs. */
export const googlePython = (): Promise<string> => pythonWith('google-python', ['google-api-python-client==2.202.0']);

/** Google's client of Compute Engine. */
export const computePython = (): Promise<string> => pythonWith('compute-python', ['google-cloud-compute==1.57.0']);

/** Google's client of Cloud Storage. */
export const storagePython = (): Promise<string> => pythonWith('storage-python', ['google-cloud-storage==3.17.1']);

async function pythonWith(name: string, wanted: readonly string[]): Promise<string> {
  const { pythonPath } = await ensureEnvironment({
    cacheDir: join(import.meta.dirname, '../../../node_modules/.cache/ropewalk', name),
    requirements: [...wanted],
    pythonPath: 'python3',
    environment: process.env,
  });
  return pythonPath;
}
