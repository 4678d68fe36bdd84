import { colorAt, cssColor, textColorOn } from '../core/colors';
import type { AxisInfo } from '../core/header';
import { isRightToLeft } from '../core/labels';
import { make, name } from './dom';
import { axesOf, colorIn, valuesOf, weightsOf, type Actions, type Scene, type View } from './scene';

/** One axis as running text, or as the grid of a picture. */
class Passage {
  readonly element = make('div', { class: 'passage' });
  readonly marks: HTMLElement[] = [];
  private readonly looks: string[] = [];

  constructor(
    readonly axis: AxisInfo,
    title: string,
  ) {
    const text = make('p', { class: 'running', dir: 'auto' });
    if (title) this.element.append(make('h2', {}, title));
    const special = new Set(axis.special);
    const gridBegin = axis.grid ? axis.labels.length - axis.grid[0] * axis.grid[1] : axis.labels.length;
    axis.read.slice(0, gridBegin).forEach(([gap, own, kind], index) => {
      const mark =
        kind === 0
          ? make('span', { class: 'token', 'data-i': index }, own)
          : make('span', { class: 'token chip', 'data-i': index }, name(own));
      if (special.has(index)) mark.classList.add('special');
      mark.title = `${index} ${axis.names[index] ?? ''}`;
      if (gap) text.append(gap);
      text.append(mark);
      if (kind !== 0) text.append('\u200b'); // a line may break after a chip
      this.marks.push(mark);
    });
    this.element.append(text);
    if (axis.grid) this.element.append(this.patches(gridBegin, axis.grid[1]));
  }

  private patches(begin: number, across: number): HTMLElement {
    const grid = make('div', { class: 'patches' });
    grid.style.gridTemplateColumns = `repeat(${across}, minmax(0, 1fr))`;
    for (let index = begin; index < this.axis.labels.length; ++index) {
      const mark = make('span', { class: 'token patch', 'data-i': index, title: this.axis.labels[index] ?? '' });
      grid.append(mark);
      this.marks.push(mark);
    }
    return grid;
  }

  /** Colours all by their value; `line` null: none. */
  shade(scene: Scene, line: Float32Array | null, chosen: number | null, other: number | null): void {
    // The ground is the colour of no weight, so that words of little weight do not stand out.
    const ground = colorAt(scene.colors, 0);
    this.element.style.background = cssColor(ground);
    this.element.style.color = textColorOn(ground);
    this.marks.forEach((mark, index) => {
      const value = line?.[index] ?? Number.NaN;
      const role = index === chosen ? 'chosen' : Number.isNaN(value) && line ? 'forbidden' : index === other ? 'other' : '';
      const shown = !Number.isNaN(value) && (role !== 'chosen' || mark.classList.contains('patch'));
      const color = colorIn(scene, value);
      const look = `${role} ${shown ? cssColor(color) : ''}`;
      if (this.looks[index] === look) return; // most stay as they are
      this.looks[index] = look;
      for (const each of ['chosen', 'forbidden', 'other']) mark.classList.toggle(each, each === role);
      mark.style.background = shown ? cssColor(color) : '';
      mark.style.color = shown ? textColorOn(color) : '';
    });
  }
}

/** Running text: the chosen word red, all others shaded by their weight. */
export class ReadView implements View {
  readonly element = make('div', {
    class: 'read',
    role: 'application',
    tabindex: 0,
    'aria-label': 'Running text, shaded by attention. Arrow keys move the chosen word, R flips row and column.',
  });
  private passages: Passage[] = [];
  private built = '';
  private scene: Scene | null = null;

  constructor(private readonly actions: Actions) {}

  update(scene: Scene): void {
    this.scene = scene;
    this.build(scene);
    const { state, focus } = scene;
    const weights = weightsOf(scene);
    const line = weights && valuesOf(scene, weights);
    if (this.passages.length === 1) {
      this.passages[0]?.shade(scene, line, focus?.token ?? null, focus?.other ?? null);
      return;
    }
    const [rows, cols] = this.passages as [Passage, Passage];
    const [own, shaded] = state.column ? [cols, rows] : [rows, cols];
    own.shade(scene, null, focus?.token ?? null, null);
    shaded.shade(scene, line, null, focus?.other ?? null);
  }

  arrow(scene: Scene, dx: number, dy: number): boolean {
    const count = axesOf(scene).token.labels.length;
    const now = scene.focus?.token ?? 0;
    const passage = this.passages.length > 1 && scene.state.column ? this.passages[1] : this.passages[0];
    const mark = passage?.marks[now];
    const step = mark && isRightToLeft(passage.axis.names.join(' ')) ? -dx : dx;
    let next = now + step;
    if (dy !== 0 && mark) next = lineAway(passage.marks, now, dy);
    this.actions.pin(Math.max(0, Math.min(count - 1, next)), null);
    passage?.marks[next]?.scrollIntoView({ block: 'nearest' });
    return true;
  }

  private build(scene: Scene): void {
    const key = `${scene.site.rowAxis} ${scene.site.colAxis}`;
    if (key === this.built) return;
    this.built = key;
    this.passages = [new Passage(scene.rowAxis, scene.rowAxis === scene.colAxis ? '' : `${scene.rowAxis.name}, attending`)];
    if (scene.rowAxis !== scene.colAxis) {
      this.passages.push(new Passage(scene.colAxis, `${scene.colAxis.name}, attended to`));
    }
    this.element.replaceChildren(...this.passages.map((passage) => passage.element));
    this.passages.forEach((passage, side) => this.listen(passage, side === 1));
  }

  /** `second`: the columns' own text, where rows have another. */
  private listen(passage: Passage, second: boolean): void {
    const touch = (event: Event, action: (token: number, other: number | null) => void) => {
      const mark = (event.target as Element).closest<HTMLElement>('[data-i]');
      if (!mark || !this.scene) return;
      const index = Number(mark.dataset['i']);
      const { state, focus } = this.scene;
      // In the text that does not hold the chosen word: the other end of the pair.
      if (this.passages.length === 1 || second === state.column) action(index, null);
      else if (focus) action(focus.token, index);
    };
    passage.element.addEventListener('pointerover', (event) => touch(event, (token, other) => this.actions.hover({ token, other })));
    passage.element.addEventListener('pointerleave', () => this.actions.hover(null));
    passage.element.addEventListener('click', (event) => touch(event, (token, other) => this.actions.pin(token, other)));
  }
}

/** The word on the line above or below that is nearest. */
function lineAway(marks: HTMLElement[], now: number, dy: number): number {
  const here = (marks[now] as HTMLElement).getBoundingClientRect();
  const middle = (here.left + here.right) / 2;
  let best = now;
  let least = Infinity;
  marks.forEach((mark, index) => {
    const box = mark.getBoundingClientRect();
    const down = (box.top - here.top) * dy;
    if (down < here.height / 2) return;
    const distance = down * 1000 + Math.abs((box.left + box.right) / 2 - middle);
    if (distance < least) [best, least] = [index, distance];
  });
  return best;
}
