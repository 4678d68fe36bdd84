// Builds the viewer of standalone pages, one script and one style sheet, and app/, the page of `fovea serve`.
// There are no source maps and names are fixed: the same sources and lock file give the same bytes.
//
//   node build.mjs [FOLDER]      default: ../fovea/webfiles
import { build } from 'esbuild';
import { build as buildApp } from 'vite';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? resolve(here, '../fovea/webfiles'));

await build({
  absWorkingDir: here,
  entryPoints: { viewer: 'src/viewer/main.ts' },
  outdir: out,
  bundle: true,
  minify: true,
  format: 'iife',
  target: ['es2022'],
  charset: 'utf8',
  legalComments: 'none',
});
await build({
  absWorkingDir: here,
  entryPoints: { viewer: 'src/viewer/viewer.css' },
  outdir: out,
  bundle: true,
  minify: true,
  charset: 'utf8',
});
await buildApp({
  configFile: resolve(here, 'vite.config.ts'),
  logLevel: 'warn',
  build: { outDir: resolve(out, 'app'), emptyOutDir: true },
});
