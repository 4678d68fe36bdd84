// Bundles the viewer of standalone pages into one script and one style sheet without source maps:
// the same sources and lock file give the same bytes.
//
//   node build.mjs [FOLDER]      default: ../fovea/webfiles
import { build } from 'esbuild';
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
