import type { DrawnMap } from '../core/bins';
import type { DecodedMap } from '../core/codec';
import { painter, pixelOf } from '../core/colors';
import { isPlain, withArrows } from '../core/drawing';
import { paragraphs, receivers, roundNumbers, type Mark } from '../core/labels';
import { drawCells } from '../core/raster';
import { fittingZoom, zoomSteps, type Zoom } from '../core/zoom';
import { AxisStrip, LEANING_FROM } from './strip';
import { canvas, make } from './dom';
import { cellOf, forbiddenGround, isLong, type Actions, type Scene, type View } from './scene';

const GAP_FROM = 10; // pixels of a cell from which there is space between cells

/** A matrix with names on both axes: at first all of it, in bins where it is long; only what is visible is drawn. */
export class MatrixView implements View {
  readonly element = make('div', {
    class: 'matrix',
    role: 'application',
    tabindex: 0,
    'aria-label': 'Attention matrix: rows attend to columns. Arrow keys move the chosen cell, R flips row and column, plus and minus zoom.',
  });
  private readonly columns = new AxisStrip('columns');
  private readonly rows = new AxisStrip('rows');
  private readonly corner = make('div', { class: 'corner', 'aria-hidden': 'true' });
  private readonly space = make('div', { class: 'space' });
  private readonly scroll = make('div', { class: 'scroll' });
  private readonly drawing = canvas('cells');
  private readonly rowBand = make('div', { class: 'band across' });
  private readonly colBand = make('div', { class: 'band down' });
  private readonly ring = make('div', { class: 'ring' });
  private scene: Scene | null = null;
  private steps: Zoom[] = [{ block: 1, bin: 1 }];
  private chosen: Zoom | null = null; // by zooming; null: all of the map
  private shape = '';
  private marked: { map: DecodedMap; marks: [Mark[], Mark[]] } | null = null;
  private drawn: { map: DrawnMap; place: string; colors: Uint8Array } | null = null;

  constructor(private readonly actions: Actions) {
    this.space.append(this.drawing.element, this.rowBand, this.colBand, this.ring);
    this.scroll.append(this.space);
    this.element.append(this.corner, this.columns.element, this.rows.element, this.scroll);
    this.scroll.addEventListener('scroll', () => this.paint(), { passive: true });
    this.space.addEventListener('pointermove', (event) => this.touch(event, (token, other) => actions.hover({ token, other })));
    this.space.addEventListener('pointerleave', () => actions.hover(null));
    this.space.addEventListener('click', (event) => this.touch(event, (token, other) => actions.pin(token, other)));
    this.element.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    new ResizeObserver(() => this.resized()).observe(this.element);
  }

  update(scene: Scene): void {
    this.scene = scene;
    const shape = `${scene.site.rows} ${scene.site.cols} ${scene.site.rowAxis} ${scene.site.colAxis}`;
    if (shape === this.shape) {
      this.paint();
      return;
    }
    this.shape = shape;
    this.chosen = null;
    this.layout();
  }

  private get zoomed(): Zoom {
    return this.chosen ?? (this.steps[0] as Zoom);
  }

  /** Pixels from one position to the next. */
  private get cell(): number {
    return this.zoomed.bin / this.zoomed.block;
  }

  arrow(scene: Scene, dx: number, dy: number): boolean {
    const { state, site, focus } = scene;
    const now = focus ? cellOf(scene, focus) : { row: null, col: null };
    const clamp = (value: number, size: number) => Math.max(0, Math.min(size - 1, value));
    const by = this.zoomed.block; // a bin further
    // The first arrow shows the corner cell, later ones move.
    const begun = now.row !== null && now.col !== null;
    const row = clamp((now.row ?? 0) + (begun ? by * dy : 0), site.rows);
    const col = clamp((now.col ?? 0) + (begun ? by * dx : 0), site.cols);
    this.actions.pin(state.column ? col : row, state.column ? row : col);
    this.reveal(row, col);
    return true;
  }

  /** Larger or smaller: first smaller bins, then cells, then larger cells. The chosen cell, or the middle, stays where it is. */
  zoom(by: number): void {
    const { scroll, scene } = this;
    const { row, col } = scene?.focus ? cellOf(scene, scene.focus) : { row: null, col: null };
    const at = (index: number | null, offset: number, length: number) => {
      const place = index === null ? -1 : (index + 0.5) * this.cell - offset;
      return place >= 0 && place <= length ? place : length / 2;
    };
    this.zoomAt(by, at(col, scroll.scrollLeft, scroll.clientWidth), at(row, scroll.scrollTop, scroll.clientHeight));
  }

  /** Keeps what lies at a point of the visible part where it is. */
  private zoomAt(by: number, x: number, y: number): void {
    const { scroll, steps } = this;
    const before = this.cell;
    const at = steps.findIndex(({ block, bin }) => bin / block >= before);
    this.chosen = by === 0 ? null : (steps[Math.max(0, Math.min(steps.length - 1, at + by))] as Zoom);
    const { scrollLeft, scrollTop } = scroll;
    this.layout();
    const ratio = this.cell / before;
    scroll.scrollLeft = (scrollLeft + x) * ratio - x;
    scroll.scrollTop = (scrollTop + y) * ratio - y;
    this.actions.refresh();
  }

  private reveal(row: number, col: number): void {
    const { scroll, cell } = this;
    if (col * cell < scroll.scrollLeft) scroll.scrollLeft = col * cell;
    if ((col + 1) * cell > scroll.scrollLeft + scroll.clientWidth) scroll.scrollLeft = (col + 1) * cell - scroll.clientWidth;
    if (row * cell < scroll.scrollTop) scroll.scrollTop = row * cell;
    if ((row + 1) * cell > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = (row + 1) * cell - scroll.clientHeight;
  }

  private wheel(event: WheelEvent): void {
    if (!event.ctrlKey) return; // the page scrolls
    event.preventDefault();
    const box = this.scroll.getBoundingClientRect();
    this.zoomAt(event.deltaY < 0 ? 1 : -1, event.clientX - box.left, event.clientY - box.top);
  }

  private touch(event: MouseEvent, action: (token: number, other: number) => void): void {
    if (!this.scene) return;
    const { state, drawn } = this.scene;
    const box = this.space.getBoundingClientRect();
    const col = Math.floor((event.clientX - box.left) / this.zoomed.bin);
    const row = Math.floor((event.clientY - box.top) / this.zoomed.bin);
    if (!drawn || row < 0 || col < 0 || row >= drawn.rows || col >= drawn.cols) return;
    const [token, other] = drawn.strongest(row, col);
    action(state.column ? other : token, state.column ? token : other);
  }

  private resized(): void {
    const { block } = this.zoomed;
    this.layout();
    if (this.zoomed.block !== block) this.actions.refresh();
  }

  private layout(): void {
    const { scene } = this;
    if (!scene || this.element.clientWidth === 0) return;
    const { site } = scene;
    const width = this.element.clientWidth;
    const height = Math.max(260, Math.min(window.innerHeight - 210, 1000));
    const narrow = width < 520;
    const left = this.rows.measure(scene.rowAxis, narrow ? 76 : Math.max(132, Math.min(260, Math.round(0.3 * width))));
    const top = this.columns.measure(scene.colAxis, narrow ? 84 : 100);
    const ratio = window.devicePixelRatio || 1;
    const fitting = (margin: number) => fittingZoom(site.rows, site.cols, width - left - margin, height - top, ratio);
    // The last leaning name stands out to the right of the map.
    const lean = Math.round(0.8 * top);
    const leaning = (this.chosen ?? fitting(lean)).bin >= LEANING_FROM;
    this.steps = zoomSteps(fitting(leaning ? lean : 2));
    const { block, bin } = this.zoomed;
    const [across, down] = [Math.ceil(site.cols / block) * bin, Math.ceil(site.rows / block) * bin];
    this.element.style.paddingInlineEnd = leaning ? `${lean}px` : '0';
    this.element.style.gridTemplateColumns = `${left}px minmax(0, max-content)`;
    this.element.style.gridTemplateRows = `${top}px auto`;
    this.scroll.style.maxHeight = `${height - top}px`;
    this.space.style.width = `${across}px`;
    this.space.style.height = `${down}px`;
    this.corner.textContent = down > 120 ? 'rows ↓ attend to columns →' : '';
    this.paint();
  }

  private paint(): void {
    const { scene, scroll } = this;
    if (!scene) return;
    this.paintCells(scene);
    this.paintFocus(scene);
    const { row, col } = scene.focus ? cellOf(scene, scene.focus) : { row: null, col: null };
    const column = scene.state.column;
    const [rowMarks, colMarks] = this.marksOf(scene);
    this.rows.paint(scene.rowAxis, this.cell, scroll.scrollTop, scroll.clientHeight, row, !column, rowMarks);
    this.columns.paint(scene.colAxis, this.cell, scroll.scrollLeft, scroll.clientWidth, col, column, colMarks);
  }

  /** What names a long axis: paragraphs beside the rows, above the columns the ones that receive most. */
  private marksOf({ map, rowAxis, colAxis }: Scene): [Mark[], Mark[]] {
    if (this.marked?.map !== map) {
      const begun = paragraphs(rowAxis);
      const rows = begun.length > 2 ? begun : roundNumbers(map.rows);
      this.marked = { map, marks: [rows, receivers(map.colSums, map.rows, colAxis.labels)] };
    }
    return this.marked.marks;
  }

  private paintCells(scene: Scene): void {
    const ratio = window.devicePixelRatio || 1;
    const { scroll, drawing } = this;
    const { block, bin } = this.zoomed;
    const map = scene.bins.drawn(block, scene.drawing.of);
    scene.drawn = map;
    if (block > 1 || !isPlain(scene.drawing)) scene.scale = withArrows(scene.scale, map.least, map.most);
    const width = Math.min(scroll.clientWidth, map.cols * bin);
    const height = Math.min(scroll.clientHeight, map.rows * bin);
    const [pixelsAcross, pixelsDown] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (pixelsAcross < 1 || pixelsDown < 1) return;
    const { low, high, curve } = scene.scale;
    const place = [pixelsAcross, pixelsDown, scroll.scrollLeft, scroll.scrollTop, bin, scene.dark, low, high, curve].join(' ');
    if (this.drawn?.map === map && this.drawn.colors === scene.colors && this.drawn.place === place) return; // only the focus moved
    this.drawn = { map, place, colors: scene.colors };
    if (drawing.element.width !== pixelsAcross || drawing.element.height !== pixelsDown) {
      drawing.element.width = pixelsAcross;
      drawing.element.height = pixelsDown;
      drawing.element.style.width = `${width}px`;
      drawing.element.style.height = `${height}px`;
    }
    const image = drawing.context.createImageData(pixelsAcross, pixelsDown);
    drawCells(
      new Uint32Array(image.data.buffer),
      map,
      {
        width: pixelsAcross,
        height: pixelsDown,
        left: scroll.scrollLeft * ratio,
        top: scroll.scrollTop * ratio,
        cell: bin * ratio,
        gap: bin >= GAP_FROM ? Math.round(ratio) : 0,
      },
      {
        paint: painter(scene.colors, scene.scale),
        ground: pixelOf(isLong(scene) ? forbiddenGround(scene) : scene.dark ? [30, 32, 38] : [243, 241, 237]),
        hatch: pixelOf(scene.dark ? [92, 96, 108] : [176, 172, 164]),
        period: isLong(scene) ? 0 : Math.round(6 * ratio),
        thickness: Math.max(1, Math.round(ratio)),
        page: pixelOf(scene.dark ? [20, 21, 26] : [252, 251, 249]),
      },
    );
    drawing.context.putImageData(image, 0, 0);
  }

  private paintFocus(scene: Scene): void {
    const { focus } = scene;
    const { row, col } = focus ? cellOf(scene, focus) : { row: null, col: null };
    const put = (element: HTMLElement, shown: boolean, place: [number, number, number, number]) => {
      element.hidden = !shown;
      const [left, top, width, height] = place;
      element.style.transform = `translate(${left}px, ${top}px)`;
      element.style.width = `${width}px`;
      element.style.height = `${height}px`;
    };
    const { block, bin } = this.zoomed;
    const at = (index: number | null) => Math.floor((index ?? 0) / block) * bin;
    put(this.rowBand, row !== null, [0, at(row), this.space.offsetWidth, bin]);
    put(this.colBand, col !== null, [at(col), 0, bin, this.space.offsetHeight]);
    put(this.ring, row !== null && col !== null, [at(col), at(row), bin, bin]);
    this.rowBand.classList.toggle('main', !scene.state.column);
    this.colBand.classList.toggle('main', scene.state.column);
  }
}
