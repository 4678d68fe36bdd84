import type { DecodedMap } from '../core/codec';
import { pixelOf } from '../core/colors';
import { drawCells } from '../core/raster';
import { AxisStrip, LEANING_FROM } from './strip';
import { canvas, make } from './dom';
import { cellOf, type Actions, type Scene, type View } from './scene';

const LARGEST_CELL = 36;
const SEEN_CELL = 4;
const GAP_FROM = 10; // pixels of a cell from which there is space between cells

/** A matrix with names on both axes; only what is visible is drawn. */
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
  private cell = 1;
  private chosenCell = 0; // by zooming; 0: as it fits
  private shape = '';
  private drawn: { map: DecodedMap; table: Uint32Array; place: string } | null = null;

  constructor(private readonly actions: Actions) {
    this.space.append(this.drawing.element, this.rowBand, this.colBand, this.ring);
    this.scroll.append(this.space);
    this.element.append(this.corner, this.columns.element, this.rows.element, this.scroll);
    this.scroll.addEventListener('scroll', () => this.paint(), { passive: true });
    this.space.addEventListener('pointermove', (event) => this.touch(event, (token, other) => actions.hover({ token, other })));
    this.space.addEventListener('pointerleave', () => actions.hover(null));
    this.space.addEventListener('click', (event) => this.touch(event, (token, other) => actions.pin(token, other)));
    this.element.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    new ResizeObserver(() => this.layout()).observe(this.element);
  }

  update(scene: Scene): void {
    this.scene = scene;
    const shape = `${scene.site.rows} ${scene.site.cols} ${scene.site.rowAxis} ${scene.site.colAxis}`;
    if (shape === this.shape) {
      this.paint();
      return;
    }
    this.shape = shape;
    this.chosenCell = 0;
    this.layout();
  }

  arrow(scene: Scene, dx: number, dy: number): boolean {
    const { state, site, focus } = scene;
    const now = focus ? cellOf(scene, focus) : { row: null, col: null };
    const clamp = (value: number, size: number) => Math.max(0, Math.min(size - 1, value));
    // The first arrow shows the corner cell, later ones move.
    const begun = now.row !== null && now.col !== null;
    const row = clamp((now.row ?? 0) + (begun ? dy : 0), site.rows);
    const col = clamp((now.col ?? 0) + (begun ? dx : 0), site.cols);
    this.actions.pin(state.column ? col : row, state.column ? row : col);
    this.reveal(row, col);
    return true;
  }

  /** Makes cells larger or smaller and keeps the middle where it is. */
  zoom(by: number): void {
    const sizes = [1, 2, 3, 4, 6, 8, 10, 12, 14, 18, 22, 28, LARGEST_CELL];
    const at = sizes.findIndex((size) => size >= this.cell);
    const next = by > 0 ? sizes.find((size) => size > this.cell) : sizes[Math.max(0, at - 1)];
    if (by === 0) this.chosenCell = 0;
    else this.chosenCell = next ?? LARGEST_CELL;
    const before = this.cell;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.scroll;
    this.layout();
    const ratio = this.cell / before;
    this.scroll.scrollLeft = (scrollLeft + clientWidth / 2) * ratio - clientWidth / 2;
    this.scroll.scrollTop = (scrollTop + clientHeight / 2) * ratio - clientHeight / 2;
    this.paint();
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
    this.zoom(event.deltaY < 0 ? 1 : -1);
  }

  private touch(event: MouseEvent, action: (token: number, other: number) => void): void {
    if (!this.scene) return;
    const box = this.space.getBoundingClientRect();
    const col = Math.floor((event.clientX - box.left) / this.cell);
    const row = Math.floor((event.clientY - box.top) / this.cell);
    const { site, state } = this.scene;
    if (row < 0 || col < 0 || row >= site.rows || col >= site.cols) return;
    action(state.column ? col : row, state.column ? row : col);
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
    const fitting = (margin: number) => {
      const across = Math.floor((width - left - margin) / site.cols);
      const fit = Math.min(across, Math.floor((height - top) / site.rows));
      // Rather scrolled than too small to see.
      return Math.max(1, Math.min(LARGEST_CELL, Math.max(fit, Math.min(across, SEEN_CELL))));
    };
    // The last leaning name stands out to the right of the map.
    const lean = Math.round(0.8 * top);
    const leaning = (this.chosenCell || fitting(lean)) >= LEANING_FROM;
    this.cell = this.chosenCell || fitting(leaning ? lean : 2);
    this.element.style.paddingInlineEnd = leaning ? `${lean}px` : '0';
    this.element.style.gridTemplateColumns = `${left}px minmax(0, max-content)`;
    this.element.style.gridTemplateRows = `${top}px auto`;
    this.scroll.style.maxHeight = `${height - top}px`;
    this.space.style.width = `${site.cols * this.cell}px`;
    this.space.style.height = `${site.rows * this.cell}px`;
    this.corner.textContent = site.rows * this.cell > 120 ? 'rows ↓ attend to columns →' : '';
    this.paint();
  }

  private paint(): void {
    const { scene, scroll } = this;
    if (!scene) return;
    this.paintCells(scene);
    this.paintFocus(scene);
    const { row, col } = scene.focus ? cellOf(scene, scene.focus) : { row: null, col: null };
    const column = scene.state.column;
    this.rows.paint(scene.rowAxis, this.cell, scroll.scrollTop, scroll.clientHeight, row, !column);
    this.columns.paint(scene.colAxis, this.cell, scroll.scrollLeft, scroll.clientWidth, col, column);
  }

  private paintCells(scene: Scene): void {
    const ratio = window.devicePixelRatio || 1;
    const { scroll, drawing, cell } = this;
    const width = Math.min(scroll.clientWidth, scene.site.cols * cell);
    const height = Math.min(scroll.clientHeight, scene.site.rows * cell);
    const [pixelsAcross, pixelsDown] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (pixelsAcross < 1 || pixelsDown < 1) return;
    const place = [pixelsAcross, pixelsDown, scroll.scrollLeft, scroll.scrollTop, cell, scene.dark].join(' ');
    const { drawn } = this;
    if (drawn?.map === scene.map && drawn.table === scene.table && drawn.place === place) return; // only the focus moved
    this.drawn = { map: scene.map, table: scene.table, place };
    if (drawing.element.width !== pixelsAcross || drawing.element.height !== pixelsDown) {
      drawing.element.width = pixelsAcross;
      drawing.element.height = pixelsDown;
      drawing.element.style.width = `${width}px`;
      drawing.element.style.height = `${height}px`;
    }
    const image = drawing.context.createImageData(pixelsAcross, pixelsDown);
    drawCells(
      new Uint32Array(image.data.buffer),
      scene.map,
      {
        width: pixelsAcross,
        height: pixelsDown,
        left: scroll.scrollLeft * ratio,
        top: scroll.scrollTop * ratio,
        cell: cell * ratio,
        gap: cell >= GAP_FROM ? Math.round(ratio) : 0,
      },
      {
        table: scene.table,
        hatch: pixelOf(scene.dark ? [92, 96, 108] : [176, 172, 164]),
        ground: pixelOf(scene.dark ? [30, 32, 38] : [243, 241, 237]),
        page: pixelOf(scene.dark ? [20, 21, 26] : [252, 251, 249]),
        period: Math.round(6 * ratio),
        thickness: Math.max(1, Math.round(ratio)),
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
    const { cell } = this;
    const across = scene.site.cols * cell;
    const down = scene.site.rows * cell;
    put(this.rowBand, row !== null, [0, (row ?? 0) * cell, across, cell]);
    put(this.colBand, col !== null, [(col ?? 0) * cell, 0, cell, down]);
    put(this.ring, row !== null && col !== null, [(col ?? 0) * cell, (row ?? 0) * cell, cell, cell]);
    this.rowBand.classList.toggle('main', !scene.state.column);
    this.colBand.classList.toggle('main', scene.state.column);
  }
}
