// Loaded by `node --import` into the API and the Temporal worker of a soak, and thereby into each of their threads: garbage is
// collected every few seconds. V8 keeps garbage for minutes while memory is free, and the soak would measure it as growth.
import v8 from 'node:v8';
import vm from 'node:vm';

v8.setFlagsFromString('--expose-gc');
const collect: () => void = vm.runInNewContext('gc');
setInterval(() => collect(), 5_000).unref();
