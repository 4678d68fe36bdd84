/** What can be done on a long map. */
import type { Command } from '../../core/commands';
import { COLOR_NAMES } from '../../core/tables';
import { fill, words } from '../../words/words';
import { copy } from '../commands';
import type { Model } from '../model.svelte';
import { findNext } from '../panels/go_to';
import type { MapState } from './map_state.svelte';

const PAN = 0.2;

export function mapCommands(model: Model, map: MapState): Command[] {
  const site = () => map.map?.site;
  const cursor = () => model.hover ?? (model.place.row !== null && model.place.col !== null ? { row: model.place.row, col: model.place.col } : null);
  const step = (across: number, down: number) => () => {
    const shape = site();
    if (!shape) return;
    const { bin, view, bins } = map;
    const now = cursor() ?? { row: view.row + Math.floor(bins.down / 2) * bin - down * bin, col: view.col + Math.floor(bins.across / 4) * bin - across * bin };
    const inside = (place: number, size: number) => Math.max(0, Math.min(Math.floor((size - 1) / bin) * bin, Math.floor(place / bin) * bin));
    const cell = { row: inside(now.row + down * bin, shape.rows), col: inside(now.col + across * bin, shape.cols) };
    model.hover = cell;
    map.reveal(cell);
  };
  const moves: [string, string, number, number][] = [['left', 'ArrowLeft', -1, 0], ['right', 'ArrowRight', 1, 0], ['up', 'ArrowUp', 0, -1], ['down', 'ArrowDown', 0, 1]];
  const pans: [string, string, number, number][] = [['left', 'a', -PAN, 0], ['right', 'd', PAN, 0], ['up', 'w', 0, -PAN], ['down', 's', 0, PAN]];
  const next = async (back: boolean) => {
    const wrong = await findNext(model, back);
    if (wrong) model.say(wrong);
    else map.reveal({ row: model.place.row ?? 0, col: model.place.col ?? 0 });
  };
  return [
    ...moves.flatMap(([name, key, across, down]) => [
      { id: `view.${name}`, keys: [key], run: step(across, down) },
      { id: `view.${name}.far`, keys: [`Shift+${key}`], run: step(10 * across, 10 * down) },
    ]),
    ...pans.map(([name, key, across, down]) => ({ id: `map.pan.${name}`, keys: [key], run: () => map.pan(across, down) })),
    {
      id: 'view.pin', keys: ['Enter'],
      run: () => {
        const cell = cursor();
        if (!cell) return;
        map.strongest(cell).then((found) => found && model.go({ row: found.cell.row, col: found.cell.col }), (error: unknown) => model.failed(error));
      },
    },
    { id: 'map.zoom.in', keys: ['+', '='], run: () => map.zoom(1) },
    { id: 'map.zoom.out', keys: ['-'], run: () => map.zoom(-1) },
    { id: 'map.fit', keys: ['f'], run: () => { model.go({ zoom: null }); map.look(); } },
    { id: 'map.pool', keys: ['b'], run: () => model.go({ pool: model.place.pool === 'mean' ? 'max' : 'mean' }) },
    { id: 'view.of', keys: ['e'], run: () => model.go({ of: map.of === 'weight' ? 'times-even' : 'weight' }) },
    { id: 'view.colors', keys: ['c'], run: () => model.go({ colors: COLOR_NAMES[(COLOR_NAMES.indexOf(map.colorName) + 1) % COLOR_NAMES.length] ?? '' }) },
    { id: 'view.find.next', keys: ['n'], run: () => void next(false) },
    { id: 'view.find.before', keys: ['N'], run: () => void next(true) },
    {
      id: 'view.copy', keys: ['Ctrl+C'],
      run: () => {
        const under = map.under(cursor());
        if (!under) return;
        const text = `row ${under.cell.row}, column ${under.cell.col}: ${under.share}`;
        void copy(model, text, fill(words.states.copiedCell, { text }));
      },
    },
    {
      id: 'view.save',
      run: () => {
        const image = map.engine?.pixels();
        if (!image) return;
        const canvas = document.createElement('canvas');
        canvas.width = image.width;
        canvas.height = image.height;
        canvas.getContext('2d')?.putImageData(image, 0, 0);
        const name = `fovea-layer${model.place.layer}-head${model.place.head}.png`;
        canvas.toBlob((blob) => {
          if (!blob) return;
          const link = document.createElement('a');
          link.href = URL.createObjectURL(blob);
          link.download = name;
          link.click();
          setTimeout(() => URL.revokeObjectURL(link.href), 1000);
          model.say(fill(words.states.saved, { name }));
        });
      },
    },
  ];
}
