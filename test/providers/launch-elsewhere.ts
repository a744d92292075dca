// A process that makes one launch with a local provider of its own: options and request come on standard input, because a request
// holds a secret. Prints the outcome.
import { text } from 'node:stream/consumers';

import { createLocalProvider } from '../../providers/local/provider.ts';

const { options, request } = JSON.parse(await text(process.stdin));
process.stdout.write(JSON.stringify(await createLocalProvider(options).launch(request)));
