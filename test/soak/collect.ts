// Loaded by `node --import` into the API and the Temporal worker of a soak, and so into each of their threads: garbage is
// collected every few seconds. V8 lets it lie for minutes when nobody needs the room, so that memory would grow that nobody keeps.
import v8 from 'node:v8';
import vm from 'node:vm';

v8.setFlagsFromString('--expose-gc');
const collect: () => void = vm.runInNewContext('gc');
setInterval(() => collect(), 5_000).unref();
