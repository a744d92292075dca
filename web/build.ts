// Bundles the web application into one JSON file: the page, its script and its style. Run at the start of the development stack
// and by `npm run build`. The page loads nothing from elsewhere.
import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Writes the bundle to `outFile` atomically. */
export async function buildWeb(outFile: string): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [join(here, 'main.tsx')],
    outdir: 'out',
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome110', 'firefox115', 'safari16'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'silent',
  });
  const textOf = (ending: string): string => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  const [js, css] = [textOf('.js'), textOf('.css')];
  const version = createHash('sha256').update(js).update(css).digest('hex').slice(0, 16);
  const temporary = `${outFile}.${process.pid}.tmp`;
  await mkdir(dirname(outFile), { recursive: true });
  await writeFile(temporary, JSON.stringify({ version, html: page(version), js, css }));
  await rename(temporary, outFile);
}

/** A knot. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 11c4 0 4-6 8-6a3 3 0 0 1 0 6C6 11 6 5 2 5" fill="none" stroke="#0b5fa5" stroke-width="2" stroke-linecap="round"/></svg>',
)}`;

const page = (version: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Ropewalk</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="/assets/${version}.css">
<script type="module" src="/assets/${version}.js"></script>
</head>
<body><div id="app"></div><noscript>Ropewalk's pages need JavaScript.</noscript></body>
</html>
`;

if (import.meta.main) {
  const outFile = fileURLToPath(new URL('../dist/web.json', import.meta.url));
  await buildWeb(outFile);
  process.stdout.write(`${outFile}\n`);
}
