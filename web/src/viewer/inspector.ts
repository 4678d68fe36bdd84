import { evenText, isolated, weightText } from '../core/captions';
import { lineOf } from '../core/codec';
import type { AxisInfo } from '../core/header';
import { largest, rankOf } from '../core/ranking';
import { scaleText } from '../core/scale';
import { make, name } from './dom';
import { HeadsView } from './heads';
import { Legend, type Wishes } from './legend';
import { axesOf, cellOf, type Actions, type Scene } from './scene';

const LISTED = 10;
const TABLED = 20;

/** Beside the view: one value, the largest weights, the colour bar, and a table of the same. */
export class Inspector {
  readonly element = make('aside', { class: 'inspector', 'aria-label': 'Values' });
  private readonly value = make('output', { class: 'value' });
  private readonly even = make('p', { class: 'even' });
  private readonly pair = make('p', { class: 'pair' });
  private readonly cell = make('section', { class: 'cell' }, this.value, this.even, this.pair);
  private readonly heads: HeadsView;
  private readonly listTitle = make('h2');
  private readonly list = make('ol', { class: 'top' });
  private readonly legend: Legend;
  private readonly table = make('table');
  private readonly data = make('details', { class: 'data' }, make('summary', {}, 'Data'), make('div', { class: 'scroller' }, this.table));

  constructor(
    private readonly actions: Actions,
    wishes: Wishes,
  ) {
    this.legend = new Legend(wishes);
    this.heads = new HeadsView(actions, true);
    this.element.append(
      this.cell,
      this.legend.element,
      make('section', { class: 'list' }, this.listTitle, this.list),
      make('section', { class: 'side-heads' }, make('h2', {}, 'layers × heads'), this.heads.element),
      this.data,
    );
    this.data.addEventListener('toggle', () => this.scene && this.fillTable(this.scene));
  }
  private scene: Scene | null = null;

  update(scene: Scene): void {
    this.scene = scene;
    this.showCell(scene);
    this.showList(scene);
    this.legend.update(scene);
    this.fillTable(scene);
    this.heads.update(scene);
  }

  private showCell(scene: Scene): void {
    const { focus, map, state } = scene;
    this.cell.hidden = !focus && state.view === 'heads';
    if (!focus) {
      this.value.textContent = '';
      this.even.textContent = '';
      this.pair.textContent = state.view === 'heads' ? '' : 'Hover a cell for its weight; click to pin it.';
      return;
    }
    const line = lineOf(map, focus.token, state.column);
    const axes = axesOf(scene);
    const other = focus.other ?? largest(line, 1)[0]?.index ?? 0;
    const weight = line[other] as number;
    this.value.textContent = weightText(weight, map.levels);
    const [row, col] = state.column ? [other, focus.token] : [focus.token, other];
    this.pair.replaceChildren(
      name(scene.rowAxis.names[row] ?? '', 'tag'),
      ' → ',
      name(scene.colAxis.names[col] ?? '', 'tag'),
      make('small', {}, ` row ${row}, column ${col}` + rankText(line, other)),
    );
    const even = evenText(weight, scene.bins.allowed(row), map.levels);
    this.even.textContent = even && even !== 'even' ? `${even} times even` : even;
    this.pair.append(binText(scene));
    this.value.classList.toggle('words', Number.isNaN(weight));
    this.pair.title = axes.token.name;
  }

  private showList(scene: Scene): void {
    const { focus, map, state } = scene;
    const { other } = axesOf(scene);
    const line: ArrayLike<number> = focus ? lineOf(map, focus.token, state.column) : map.colSums;
    const axis = focus ? other : scene.colAxis;
    this.listTitle.textContent = !focus
      ? 'Columns that receive the most'
      : state.column
        ? 'Who attends to it most'
        : 'What it attends to most';
    const found = largest(line, LISTED);
    const most = found[0]?.weight || 1;
    this.list.replaceChildren(
      ...found.map(({ index, weight }) => {
        const text = focus ? weightText(weight, map.levels) : weight.toFixed(2);
        const row = focus && (state.column ? index : focus.token);
        const even = row !== null && scene.drawing.of === 'times-even' ? make('small', {}, evenText(weight, scene.bins.allowed(row), map.levels)) : '';
        const fill = make('span', { class: 'fill' });
        fill.style.width = `${(100 * weight) / most}%`;
        const line = make('button', { type: 'button', title: `position ${index}` }, fill, label(axis, index), make('span', { class: 'number' }, even, text));
        line.addEventListener('click', () => (focus ? this.actions.pin(focus.token, index) : this.pinColumn(scene, index)));
        return make('li', {}, line);
      }),
    );
  }

  /** From the list of columns: looks at that column's strongest row, or at the column itself. */
  private pinColumn(scene: Scene, column: number): void {
    if (scene.state.column) this.actions.pin(column, null);
    else this.actions.pin(largest(lineOf(scene.map, column, true), 1)[0]?.index ?? 0, column);
  }

  private fillTable(scene: Scene): void {
    if (!this.data.open) return;
    const { focus, map, state } = scene;
    if (!focus) {
      this.table.replaceChildren(make('caption', {}, 'Pin a row or column to see its numbers.'));
      return;
    }
    const axes = axesOf(scene);
    const found = largest(lineOf(map, focus.token, state.column), TABLED);
    const side = state.column ? 'column' : 'row';
    const heading = ['rank', state.column ? 'row' : 'column', 'token', 'weight', 'times even'];
    this.table.replaceChildren(
      make('caption', {}, `The ${found.length} largest weights of ${side} ${focus.token} `, name(axes.token.names[focus.token] ?? '')),
      make('thead', {}, make('tr', {}, ...heading.map((text) => make('th', { scope: 'col' }, text)))),
      make(
        'tbody',
        {},
        ...found.map(({ index, weight }, rank) =>
          make('tr', {}, make('td', {}, String(rank + 1)), make('td', {}, String(index)), make('td', {}, name(axes.other.labels[index] ?? '')), make('td', {}, weightText(weight, map.levels)), make('td', {}, evenText(weight, scene.bins.allowed(state.column ? index : focus.token), map.levels))),
        ),
      ),
    );
  }
}

function label(axis: AxisInfo, index: number): HTMLElement {
  return name(axis.labels[index] ?? '', axis.special.includes(index) ? 'label special' : 'label');
}

/** Where bins are drawn, what the one with the focused cell shows: its colour is not that of the cell. */
function binText(scene: Scene): HTMLElement | string {
  const { drawn, focus, scale } = scene;
  const { row, col } = focus ? cellOf(scene, focus) : { row: null, col: null };
  if (!drawn || drawn.block === 1 || row === null || col === null) return '';
  const [r, c] = [Math.floor(row / drawn.block), Math.floor(col / drawn.block)];
  const value = drawn.at(r, c);
  if (Number.isNaN(value)) return '';
  const { rows, cols } = drawn.positions(r, c);
  const span = ([begin, end]: [number, number]) => `${begin}–${end - 1}`;
  const shown = `${scaleText(scale, value)}${scale.timesEven && scaleText(scale, value) !== 'even' ? ' times even' : ''}`;
  return make('small', {}, `largest of its bin, rows ${span(rows)}, columns ${span(cols)}, which shows ${shown}`);
}

function rankText(line: Float32Array, index: number): string {
  if (Number.isNaN(line[index])) return '';
  const [rank, count] = rankOf(line, index);
  return `, rank ${rank} of ${count}`;
}

/** What a screen reader says about the focus. */
export function spoken(scene: Scene): string {
  const { focus, map, state } = scene;
  if (!focus) return '';
  const axes = axesOf(scene);
  const [side, across] = state.column ? ['column', 'row'] : ['row', 'column'];
  const line = lineOf(map, focus.token, state.column);
  const other = focus.other ?? largest(line, 1)[0]?.index ?? 0;
  const weight = weightText(line[other] as number, map.levels);
  const names = [axes.token.names[focus.token] ?? '', axes.other.names[other] ?? ''].map(isolated);
  return `${side} ${names[0]}, ${across} ${names[1]}, ${weight}${rankText(line, other)}`;
}
