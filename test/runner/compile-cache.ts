// As in the command line, here for Vitest, its workers and the programs that tests start: half of the processor time of a short
// program was for compiling its modules.
import { join } from 'node:path';

process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '../../node_modules/.cache/ropewalk/compiled');
