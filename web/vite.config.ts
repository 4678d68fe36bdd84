import { svelte } from '@sveltejs/vite-plugin-svelte';
import { resolve } from 'node:path';
import { defineConfig } from 'vite';

// The server answers its own page only; while one works on the page it comes from elsewhere.
const target = process.env['FOVEA_SERVER'] ?? 'http://127.0.0.1:8756';
const proxy = { '/v1': { target, changeOrigin: true, headers: { origin: target } } };
const folder = (name: string) => resolve(import.meta.dirname, name);

// The app of `fovea serve`. Names are fixed and there are no source maps: the same sources and lock file give the same bytes.
export default defineConfig({
  root: folder('.'),
  base: './',
  publicDir: folder('public'),
  plugins: [svelte({ configFile: false, compilerOptions: { dev: false } })],
  server: { proxy },
  preview: { proxy },
  build: {
    outDir: folder('../fovea/webfiles/app'),
    emptyOutDir: true,
    target: ['chrome123', 'firefox121', 'safari17.5'],
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: { entryFileNames: 'app.js', chunkFileNames: '[name].js', assetFileNames: '[name][extname]' },
    },
  },
});
