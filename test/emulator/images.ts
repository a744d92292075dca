// Machine images: those that Systems Manager's public parameters name, and one of the account.
import { createHash } from 'node:crypto';

export interface Image {
  id: string;
  architecture: 'x86_64' | 'arm64';
  /** The size of its snapshot: no root volume is smaller. */
  diskGib: number;
}

const ownImage = 'ami-0123456789abcdef0';

const ubuntu =
  /^\/aws\/service\/canonical\/ubuntu\/server\/(22\.04|24\.04)\/stable\/current\/(amd64|arm64)\/hvm\/ebs-gp[23]\/ami-id$/;
const deepLearning = /^\/aws\/service\/deeplearning\/ami\/x86_64\/[a-z0-9.-]+\/latest\/ami-id$/;

export const isImageParameter = (name: string): boolean => ubuntu.test(name) || deepLearning.test(name);

/** The same in every run: processes remember an image for longer than an emulator lives. */
export const imageNamed = (region: string, parameter: string): string =>
  `ami-${createHash('sha256').update(`${region} ${parameter}`).digest('hex').slice(0, 17)}`;

/** null for an image that the region does not have. */
export function imageOf(region: string, id: string): Image | null {
  if (id === ownImage) return { id, architecture: 'x86_64', diskGib: 8 };
  const found = parameters.find(({ name }) => imageNamed(region, name) === id);
  return found === undefined ? null : { id, architecture: found.architecture, diskGib: found.diskGib };
}

const parameters = [
  ...['22.04', '24.04'].flatMap((version) =>
    (['amd64', 'arm64'] as const).flatMap((name) =>
      ['ebs-gp2', 'ebs-gp3'].map((disk) => ({
        name: `/aws/service/canonical/ubuntu/server/${version}/stable/current/${name}/hvm/${disk}/ami-id`,
        architecture: name === 'arm64' ? ('arm64' as const) : ('x86_64' as const),
        diskGib: 8,
      })),
    ),
  ),
  {
    name: '/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id',
    architecture: 'x86_64' as const,
    diskGib: 75,
  },
];
