// A process that makes one launch on Compute Engine with a provider of its own: options and request come on standard input,
// because a request holds a secret. Prints the outcome.
import { text } from 'node:stream/consumers';

import { createGcpProvider } from '../../providers/gcp/provider.ts';

const { options, request } = JSON.parse(await text(process.stdin));
process.stdout.write(JSON.stringify(await createGcpProvider(options).launch(request)));
