// The vendor's own SDK as client of an emulator.
import { EC2Client } from '@aws-sdk/client-ec2';

export const clientOf = ({ url }: { url: string }): EC2Client =>
  new EC2Client({
    ...{ endpoint: url, region: 'us-east-1', maxAttempts: 1 },
    credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'test' },
  });
