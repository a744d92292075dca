// A process that makes one launch on EC2 with a provider of its own: options and request come on standard input, because a
// request holds a secret. Prints the outcome.
import { text } from 'node:stream/consumers';

import { createAwsProvider } from '../../providers/aws/provider.ts';

const { options, request } = JSON.parse(await text(process.stdin));
process.stdout.write(JSON.stringify(await createAwsProvider(options).launch(request)));
