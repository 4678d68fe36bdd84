/** Starts the viewer of a standalone page on the data that lies in it. */
import type { HeadName } from '../core/captions';
import { parseHeader } from '../core/header';
import { lineOf } from '../core/codec';
import type { State } from '../core/state';
import { App } from './app';
import { make } from './dom';
import type { Command } from './keyboard';

/** For other programs: the same commands and numbers that people use. */
interface Api {
  state(): State;
  set(patch: Partial<State>): void;
  run(command: Command): void;
  /** All weights of a map, row after row; NaN where the mask forbids. */
  weights(site: number, head: HeadName): Promise<Float32Array>;
}

declare global {
  var fovea: Api | undefined;
}

function start(root: HTMLElement): void {
  if (!('DecompressionStream' in globalThis)) {
    throw new Error('this browser is too old to unpack the maps; any browser from 2023 on can');
  }
  const app = new App(root, parseHeader(document.getElementById('fovea-page')?.textContent ?? ''));
  globalThis.fovea = {
    state: () => ({ ...app.state }),
    set: (patch) => app.set(patch),
    run: (command) => app.run(command),
    weights: async (site, head) => {
      const map = await app.maps.get(site, head);
      const rows = Array.from({ length: map.rows }, (_, row) => lineOf(map, row, false));
      const all = new Float32Array(map.rows * map.cols);
      rows.forEach((row, index) => all.set(row, index * map.cols));
      return all;
    },
  };
}

const root = document.getElementById('fovea');
if (root) {
  try {
    start(root);
  } catch (error) {
    root.append(make('p', { role: 'alert' }, error instanceof Error ? error.message : String(error)));
  }
}
