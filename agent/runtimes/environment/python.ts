// An interpreter's properties, queried from itself. Packages depend on exactly these, so they are part of an environment's
// name.
import { EnvironmentError } from './errors.ts';
import { runTool, type Tools } from './run-tool.ts';

export interface Python {
  /** The interpreter itself, where a launcher or a version manager was given. */
  executable: string;
  version: string;
  /** Implementation, platform and binary interface: `cpython linux-x86_64 cpython-311-x86_64-linux-gnu`. */
  platform: string;
  /** The C library of compiled packages, e.g. `glibc 2.36`; `-` where unknown. */
  libc: string;
}

export async function inspectPython(tools: Tools, pythonPath: string): Promise<Python> {
  const outcome = await runTool(tools, pythonPath, ['-I', '-S', '-c', question], { timeoutMs: 30_000 });
  if (!outcome.ok) {
    throw new EnvironmentError('PYTHON', `No Python can be run as ${pythonPath}: ${outcome.failure.said}. ${install}`, {
      cause: outcome.failure.cause,
    });
  }
  const [version = '', executable = '', platform = '', libc = '-'] = outcome.stdout.trim().split('\n');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major !== 3 || minor < 10) {
    throw new EnvironmentError('PYTHON', `Python 3.10 or later is needed, and ${pythonPath} is ${version}. ${install}`);
  }
  return { executable, version, platform, libc };
}

/** Runs on every Python version: an old one must be able to report its version. */
const question = [
  'import sys, sysconfig',
  'print(".".join(str(part) for part in sys.version_info[:3]))',
  'print(sys.executable)',
  'about = [getattr(sys, "implementation", sys).name if sys.version_info[0] > 2 else "cpython"]',
  'about += [sysconfig.get_platform(), str(sysconfig.get_config_var("SOABI"))]',
  'print(" ".join(about))',
  'import os',
  'try: print(os.confstr("CS_GNU_LIBC_VERSION"))',
  'except (AttributeError, OSError, ValueError): print("-")',
].join('\n');

const install = 'Install Python 3.10 or later on the instance, or name one that is there.';
