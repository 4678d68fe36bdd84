import { decimalsOf, isolated, weightText } from '../core/captions';
import { lineOf } from '../core/codec';
import { colorAt, cssColor, positionOf } from '../core/colors';
import type { AxisInfo } from '../core/header';
import { hasForbidden } from '../core/mask';
import { largest, rankOf } from '../core/ranking';
import { canvas, make, name } from './dom';
import { HeadsView } from './heads';
import { axesOf, type Actions, type Scene } from './scene';

const LISTED = 10;
const TABLED = 20;

/** Beside the view: one value, the largest weights, the colour bar, and a table of the same. */
export class Inspector {
  readonly element = make('aside', { class: 'inspector', 'aria-label': 'Values' });
  private readonly value = make('output', { class: 'value' });
  private readonly pair = make('p', { class: 'pair' });
  private readonly cell = make('section', { class: 'cell' }, this.value, this.pair);
  private readonly heads: HeadsView;
  private readonly listTitle = make('h2');
  private readonly list = make('ol', { class: 'top' });
  private readonly bar = canvas('bar');
  private readonly ticks = make('div', { class: 'ticks' });
  private readonly range = make('p', { class: 'note' });
  private readonly hatched = make('p', { class: 'note hatched' }, make('span', { class: 'swatch', 'aria-hidden': 'true' }), 'not allowed by the mask');
  private readonly table = make('table');
  private readonly data = make('details', { class: 'data' }, make('summary', {}, 'Data'), make('div', { class: 'scroller' }, this.table));

  constructor(private readonly actions: Actions) {
    this.heads = new HeadsView(actions, true);
    this.element.append(
      this.cell,
      make('section', { class: 'scale' }, make('h2', {}, 'attention weight'), this.bar.element, this.ticks, this.range, this.hatched),
      make('section', { class: 'list' }, this.listTitle, this.list),
      make('section', { class: 'side-heads' }, make('h2', {}, 'layers × heads'), this.heads.element),
      this.data,
    );
    this.data.addEventListener('toggle', () => this.scene && this.fillTable(this.scene));
  }
  private scene: Scene | null = null;
  private shownTable: Uint32Array | null = null;
  private said = '';

  update(scene: Scene): void {
    this.scene = scene;
    this.showCell(scene);
    this.showList(scene);
    this.showScale(scene);
    this.fillTable(scene);
    this.heads.update(scene);
  }

  private showCell(scene: Scene): void {
    const { focus, map, state } = scene;
    this.cell.hidden = !focus && state.view === 'heads';
    if (!focus) {
      this.value.textContent = '';
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
        const fill = make('span', { class: 'fill' });
        fill.style.width = `${(100 * weight) / most}%`;
        const line = make('button', { type: 'button', title: `position ${index}` }, fill, label(axis, index), make('span', { class: 'number' }, text));
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

  private showScale(scene: Scene): void {
    const said = [scene.state.view, scene.own, scene.state.ownRange, scene.state.curve, scene.site.mask].join(' ');
    if (this.shownTable === scene.table && this.said === said) return;
    this.shownTable = scene.table;
    this.said = said;
    const { element, context } = this.bar;
    element.width = 256;
    element.height = 1;
    for (let x = 0; x < 256; ++x) {
      context.fillStyle = cssColor(colorAt(scene.colors, positionOf((x / 255) * scene.high, scene.high, scene.state.curve)));
      context.fillRect(x, 0, 1, 1);
    }
    const decimals = scene.high < 0.1 ? decimalsOf(scene.map.levels) : 2;
    const tick = (value: number) => make('span', {}, value === 0 ? '0' : value.toFixed(decimals));
    this.ticks.replaceChildren(tick(0), tick(scene.high / 2), tick(scene.high));
    const own = scene.state.ownRange && scene.state.view !== 'heads';
    const ends = own ? `up to the largest weight of ${scene.own}` : 'the same for all maps';
    this.range.textContent = scene.state.curve === 'root' ? `${ends}; colours by square root` : ends;
    this.hatched.hidden = !hasForbidden(scene.mask, scene.site.rows, scene.site.cols);
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
    const heading = ['rank', state.column ? 'row' : 'column', 'token', 'weight'];
    this.table.replaceChildren(
      make('caption', {}, `The ${found.length} largest weights of ${side} ${focus.token} `, name(axes.token.names[focus.token] ?? '')),
      make('thead', {}, make('tr', {}, ...heading.map((text) => make('th', { scope: 'col' }, text)))),
      make(
        'tbody',
        {},
        ...found.map(({ index, weight }, rank) =>
          make('tr', {}, make('td', {}, String(rank + 1)), make('td', {}, String(index)), make('td', {}, name(axes.other.labels[index] ?? '')), make('td', {}, weightText(weight, map.levels))),
        ),
      ),
    );
  }
}

function label(axis: AxisInfo, index: number): HTMLElement {
  return name(axis.labels[index] ?? '', axis.special.includes(index) ? 'label special' : 'label');
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
