import { weightText } from '../core/captions';
import { lineOf } from '../core/codec';
import { cssColor, textColorOn } from '../core/colors';
import { cellAt, gridOf, largestOn, placeOf, stepOver, type Grid } from '../core/grid';
import type { AxisInfo } from '../core/header';
import { placeOn, type ColorScale } from '../core/scale';
import { darken, massNote, tintOf } from '../core/tone';
import { canvas, make, name } from './dom';
import { axesOf, colorIn, pictureAxis, valuesOf, weightsOf, type Actions, type Scene, type View } from './scene';

const LARGEST = 600; // pixels of the large picture's longer side
const SMALL = 132; // of a small one's
const STRENGTH = 100; // of what lies over the photograph, in percent
const MOST_CELLS = 40_000_000; // of all heads together, to be shown side by side

/** Positions of an axis that are no part of the picture: [CLS], registers, object queries. */
class Chips {
  readonly element = make('p', { class: 'chips' });
  private readonly marks: HTMLElement[] = [];

  constructor(
    readonly axis: AxisInfo,
    title: string,
  ) {
    if (title) this.element.append(make('span', { class: 'note' }, title));
    const count = gridOf(axis)?.begin ?? axis.labels.length;
    for (let index = 0; index < count; ++index) {
      const mark = make('span', { class: 'token chip', 'data-i': index, title: `${index} ${axis.names[index] ?? ''}` }, name(axis.labels[index] ?? ''));
      this.marks.push(mark);
      this.element.append(mark);
    }
    this.element.hidden = count === 0;
  }

  /** `weights` null: only the chosen one stands out. */
  shade(scene: Scene, weights: Float32Array | null, chosen: number | null, other: number | null): void {
    const values = weights && valuesOf(scene, weights);
    this.marks.forEach((mark, index) => {
      const weight = weights?.[index] ?? Number.NaN;
      const role = index === chosen ? 'chosen' : index === other ? 'other' : '';
      for (const each of ['chosen', 'other']) mark.classList.toggle(each, each === role);
      const shown = !Number.isNaN(weight) && role !== 'chosen';
      const color = colorIn(scene, values?.[index] ?? 0);
      mark.style.background = shown ? cssColor(color) : '';
      mark.style.color = shown ? textColorOn(color) : '';
      if (!Number.isNaN(weight)) mark.title = `${index} ${this.axis.names[index] ?? ''}: ${weightText(weight, scene.map.levels)}`;
    });
  }
}

/** The photograph grey and dark, made once. */
class Ground {
  private readonly made = new WeakMap<ImageBitmap, HTMLCanvasElement>();

  of(picture: ImageBitmap): HTMLCanvasElement {
    let ground = this.made.get(picture);
    if (!ground) {
      const { element, context } = canvas('');
      element.width = picture.width;
      element.height = picture.height;
      context.drawImage(picture, 0, 0);
      const image = context.getImageData(0, 0, element.width, element.height);
      darken(image.data);
      context.putImageData(image, 0, 0);
      this.made.set(picture, (ground = element));
    }
    return ground;
  }
}

const ground = new Ground();

/** A picture with the weights of its cells laid over it. */
class Overlay {
  readonly element: HTMLCanvasElement;
  private readonly context: CanvasRenderingContext2D;
  private readonly cells = canvas('');

  constructor(className: string) {
    ({ element: this.element, context: this.context } = canvas(className));
  }

  /** As large as the picture's longer side is `longest` on the page. */
  fit(picture: ImageBitmap, longest: number): void {
    const scale = (longest * (globalThis.devicePixelRatio || 1)) / Math.max(picture.width, picture.height);
    const [width, height] = [Math.max(1, Math.round(picture.width * scale)), Math.max(1, Math.round(picture.height * scale))];
    if (this.element.width !== width) this.element.width = width;
    if (this.element.height !== height) this.element.height = height;
  }

  paint(picture: ImageBitmap, grid: Grid, line: Float32Array | null, table: Uint8Array, scale: ColorScale, strength: number): void {
    const { width, height } = this.element;
    this.context.imageSmoothingEnabled = true;
    this.context.globalAlpha = 1;
    this.context.drawImage(picture, 0, 0, width, height);
    if (!line) return;
    this.context.globalAlpha = strength;
    this.context.drawImage(ground.of(picture), 0, 0, width, height);
    const { element, context } = this.cells;
    element.width = grid.cols;
    element.height = grid.rows;
    const image = context.createImageData(grid.cols, grid.rows);
    for (let cell = 0; cell < grid.rows * grid.cols; ++cell) {
      const value = line[grid.begin + cell] as number;
      if (Number.isNaN(value)) continue;
      const { color, cover } = tintOf(table, placeOn(scale, value));
      image.data.set([...color, Math.round(255 * cover)], 4 * cell);
    }
    context.putImageData(image, 0, 0);
    this.context.imageSmoothingEnabled = false; // what lies between cells was never computed
    this.context.drawImage(element, 0, 0, width, height);
  }
}

interface Small {
  head: number;
  button: HTMLButtonElement;
  overlay: Overlay;
  /** Says its largest weight on the picture. */
  largest: HTMLElement;
}

/** A picture: the chosen cell framed, all others coloured by their weight; below it every head. */
export class PictureView implements View {
  readonly element = make('div', {
    class: 'picture',
    role: 'application',
    tabindex: 0,
    'aria-label': 'The picture, coloured by attention. Arrow keys move the chosen patch, R flips row and column.',
  });
  private readonly overlay = new Overlay('large');
  private readonly chosen = make('span', { class: 'frame chosen', hidden: true });
  private readonly other = make('span', { class: 'frame other', hidden: true });
  private readonly sheet = make('div', { class: 'sheet' }, this.overlay.element, this.chosen, this.other);
  private readonly strength = make('input', { type: 'range', min: 0, max: 100, value: STRENGTH, 'aria-label': 'strength of what lies over the photograph' });
  private readonly smallTitle = make('h2');
  private readonly smallGrid = make('div', { class: 'multiples', role: 'group', 'aria-label': 'All heads of this layer' });
  private chips: Chips[] = [];
  private smalls: Small[] = [];
  private built = '';
  private scene: Scene | null = null;
  private turn = 0;

  constructor(private readonly actions: Actions) {
    this.strength.addEventListener('input', () => this.scene && this.update(this.scene));
    const at = (event: PointerEvent | MouseEvent): number | null => {
      const grid = this.scene && gridOf(pictureAxis(this.scene) as AxisInfo);
      const box = this.overlay.element.getBoundingClientRect();
      if (!grid || box.width === 0) return null;
      return cellAt(grid, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
    };
    const onPicture = (event: PointerEvent | MouseEvent, action: (token: number, other: number | null) => void) => {
      const index = at(event);
      if (index !== null && this.scene) this.touch(pictureAxis(this.scene) as AxisInfo, index, action);
    };
    this.sheet.addEventListener('pointermove', (event) => onPicture(event, (token, other) => this.actions.hover({ token, other })));
    this.sheet.addEventListener('pointerleave', () => this.actions.hover(null));
    this.sheet.addEventListener('click', (event) => onPicture(event, (token, other) => this.actions.pin(token, other)));
  }

  update(scene: Scene): void {
    this.scene = scene;
    const { picture } = scene;
    const axis = pictureAxis(scene);
    const grid = axis && gridOf(axis);
    if (!picture || !axis || !grid) return; // it is being unpacked
    this.build(scene, picture);
    const { state, focus, rowAxis, colAxis } = scene;
    const line = weightsOf(scene);
    const shaded = state.column ? rowAxis : colAxis;
    const own = state.column ? colAxis : rowAxis;
    const values = shaded === axis && line ? valuesOf(scene, line) : null;
    this.overlay.paint(picture, grid, values, scene.table, scene.scale, this.opacity);
    this.mark(this.chosen, grid, own === axis ? (focus?.token ?? null) : null);
    this.mark(this.other, grid, shaded === axis ? (focus?.other ?? null) : null);
    for (const chips of this.chips) {
      chips.shade(scene, chips.axis === shaded ? line : null, chips.axis === own ? (focus?.token ?? null) : null, chips.axis === shaded ? (focus?.other ?? null) : null);
    }
    for (const { head, button } of this.smalls) button.setAttribute('aria-pressed', String(head === state.head || typeof state.head !== 'number'));
    this.smallGrid.hidden = this.smallTitle.hidden = shaded !== axis || this.smalls.length < 2;
    if (!this.smallGrid.hidden) void this.paintSmalls(scene, picture, grid);
  }

  arrow(scene: Scene, dx: number, dy: number): boolean {
    const axis = axesOf(scene).token;
    const grid = gridOf(axis);
    const now = scene.focus?.token ?? 0;
    const next = grid ? stepOver(grid, now, dx, dy) : now + dx + dy;
    this.actions.pin(Math.max(0, Math.min(axis.labels.length - 1, next)), null);
    return true;
  }

  private get opacity(): number {
    return Number(this.strength.value) / 100;
  }

  /** A position of one axis: what is looked from, or where rows and columns differ what is looked at. */
  private touch(axis: AxisInfo, index: number, action: (token: number, other: number | null) => void): void {
    if (!this.scene) return;
    const { rowAxis, colAxis, focus } = this.scene;
    if (rowAxis === colAxis || axis === axesOf(this.scene).token) action(index, null);
    else if (focus) action(focus.token, index);
  }

  private mark(frame: HTMLElement, grid: Grid, index: number | null): void {
    const place = index === null ? null : placeOf(grid, index);
    frame.hidden = !place;
    if (!place) return;
    frame.style.left = `${(100 * place.col) / grid.cols}%`;
    frame.style.top = `${(100 * place.row) / grid.rows}%`;
    frame.style.width = `${100 / grid.cols}%`;
    frame.style.height = `${100 / grid.rows}%`;
  }

  private build(scene: Scene, picture: ImageBitmap): void {
    const { site, rowAxis, colAxis } = scene;
    const key = `${site.rowAxis} ${site.colAxis} ${site.heads.join()}`;
    if (key === this.built) return;
    this.built = key;
    const longest = Math.max(picture.width, picture.height);
    this.overlay.fit(picture, LARGEST);
    this.sheet.style.maxWidth = `${(LARGEST * picture.width) / longest}px`;
    const same = rowAxis === colAxis;
    this.chips = same ? [new Chips(rowAxis, '')] : [new Chips(rowAxis, `${rowAxis.name}, attending`), new Chips(colAxis, `${colAxis.name}, attended to`)];
    for (const chips of this.chips) this.listen(chips);
    this.smalls = site.heads.map((head) => this.small(head, picture));
    this.smallGrid.style.setProperty('--small', `${Math.round((SMALL * picture.width) / longest)}px`);
    this.smallGrid.replaceChildren(...this.smalls.map(({ button }) => button));
    const strength = make('label', { class: 'strength note' }, 'map', this.strength);
    const large = make('div', { class: 'seen' }, ...this.chips.map(({ element }) => element), this.sheet, strength);
    this.element.replaceChildren(large, make('div', {}, this.smallTitle, this.smallGrid));
  }

  private listen({ axis, element }: Chips): void {
    const touch = (event: Event, action: (token: number, other: number | null) => void) => {
      const mark = (event.target as Element).closest<HTMLElement>('[data-i]');
      if (mark) this.touch(axis, Number(mark.dataset['i']), action);
    };
    element.addEventListener('pointerover', (event) => touch(event, (token, other) => this.actions.hover({ token, other })));
    element.addEventListener('pointerleave', () => this.actions.hover(null));
    element.addEventListener('click', (event) => touch(event, (token, other) => this.actions.pin(token, other)));
  }

  private small(head: number, picture: ImageBitmap): Small {
    const overlay = new Overlay('');
    overlay.fit(picture, SMALL);
    const largest = make('span');
    const button = make('button', { type: 'button', class: 'tile', 'data-head': head, 'aria-label': `head ${head}` }, overlay.element, make('span', { class: 'note' }, `head ${head}`, largest));
    button.addEventListener('click', () => this.actions.choose(this.scene?.state.site ?? 0, head));
    return { head, button, overlay, largest };
  }

  /** The same line of every head. Maps that are not unpacked yet make it come a moment later. */
  private async paintSmalls(scene: Scene, picture: ImageBitmap, grid: Grid): Promise<void> {
    const turn = ++this.turn;
    const { site, state, focus } = scene;
    if (!focus) return;
    if (site.rows * site.cols * site.heads.length > MOST_CELLS) {
      this.smallGrid.hidden = true;
      this.smallTitle.textContent = `${site.heads.length} heads, too large to be shown side by side: , and . step through them`;
      return;
    }
    const maps = await Promise.all(site.heads.map((head) => scene.maps.get(state.site, head)));
    if (turn !== this.turn) return; // a later change is drawn instead
    const lines = maps.map((map) => lineOf(map, focus.token, state.column));
    const own = scene.ends === 'own';
    const scales = { own: 'each up to its largest weight', shared: `up to ${weightText(scene.shared, site.levels)}`, asked: 'on one scale', fixed: 'on one scale' };
    this.smallTitle.textContent = `all heads of layer ${site.layer}, ${scales[scene.ends]}`;
    this.smalls.forEach(({ overlay, largest }, i) => {
      const line = lines[i] as Float32Array;
      const values = valuesOf(scene, line);
      const scale = own ? { ...scene.scale, high: largestOn(grid, values) || 1 } : scene.scale;
      largest.textContent = ` · ${massNote(line.subarray(grid.begin)) || weightText(largestOn(grid, line), site.levels)}`;
      overlay.paint(picture, grid, values, scene.table, scale, this.opacity);
    });
  }
}
